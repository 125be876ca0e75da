-- What lists and details of errors ask of all events, in a fiftieth of their rows: in which release, on which day and in which environment a
-- signature has events, from when to when, and how many. It commits with its part, so it never lies.
ALTER TABLE beacon_events ADD PROJECTION IF NOT EXISTS by_day (
  SELECT organization_id, service_id, release, toDate(occurred_at), environment, signature_id,
    count(), countIf(detailed), min(occurred_at), max(occurred_at), max(received_at)
  GROUP BY organization_id, service_id, release, toDate(occurred_at), environment, signature_id
);

-- In the background: until it is done, parts written before are read whole.
ALTER TABLE beacon_events MATERIALIZE PROJECTION by_day;
