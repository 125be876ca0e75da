-- Sessions by when they were met, so that those of the last day can be told, in granules small enough to read fifty signatures' without their
-- neighbours'. The states of all slots together are exact; one that is inserted twice does not show.
CREATE TABLE IF NOT EXISTS signature_slots (
  slot DateTime('UTC'),
  service_id UUID,
  signature_id UUID,
  sessions AggregateFunction(uniqExact, String)
) ENGINE = AggregatingMergeTree
ORDER BY (service_id, signature_id, slot)
SETTINGS non_replicated_deduplication_window = 10000, fsync_after_insert = 1, index_granularity = 128;

CREATE MATERIALIZED VIEW IF NOT EXISTS signature_slots_view TO signature_slots AS
SELECT toStartOfInterval(received_at, INTERVAL 6 HOUR) AS slot, service_id, signature_id, uniqExactState(session_id) AS sessions
FROM beacon_events WHERE type != 'vital' AND session_id != ''
GROUP BY slot, service_id, signature_id;

INSERT INTO signature_slots
SELECT toDateTime(0, 'UTC') AS slot, service_id, signature_id, uniqExactMergeState(sessions) AS sessions FROM signature_sessions GROUP BY service_id, signature_id;

-- The table stays, empty of news: another process may be running this file at the same time, and reads it.
DROP VIEW IF EXISTS signature_sessions_view;
