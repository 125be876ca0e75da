-- How many sessions a signature met lately, as far as it matters for its priority: exact up to 100.
CREATE TABLE IF NOT EXISTS signature_hours (
  hour DateTime('UTC'),
  service_id UUID,
  signature_id UUID,
  sessions AggregateFunction(uniqUpTo(100), String)
) ENGINE = AggregatingMergeTree
PARTITION BY toDate(hour)
ORDER BY (service_id, signature_id, hour)
TTL hour + INTERVAL 2 DAY
SETTINGS non_replicated_deduplication_window = 10000, fsync_after_insert = 1, ttl_only_drop_parts = 1;

CREATE MATERIALIZED VIEW IF NOT EXISTS signature_hours_view TO signature_hours AS
SELECT toStartOfHour(received_at) AS hour, service_id, signature_id, uniqUpToState(100)(session_id) AS sessions
FROM beacon_events WHERE type != 'vital' AND session_id != ''
GROUP BY hour, service_id, signature_id;
