-- What lists and details of errors ask of all events, in a hundredth of their rows: on which days a signature has events in a release and an
-- environment, from when to when, and how many. It commits with its part, so it never lies.
ALTER TABLE beacon_events ADD PROJECTION IF NOT EXISTS by_day (
  SELECT organization_id, service_id, signature_id, release, environment, toDate(occurred_at),
    count(), countIf(detailed), min(occurred_at), max(occurred_at), max(received_at)
  GROUP BY organization_id, service_id, signature_id, release, environment, toDate(occurred_at)
);

-- In the background: until it is done, parts written before are read whole.
ALTER TABLE beacon_events MATERIALIZE PROJECTION by_day;
