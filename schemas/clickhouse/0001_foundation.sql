-- What happened. Rows carry their place in the log (log_id, partition, offset, index): a replay asks for them.
-- Every table that takes tokens, and every target of its views, needs a deduplication window; without one
-- a repeated insert would be doubled there silently.

CREATE TABLE IF NOT EXISTS beacon_events (
  log_id LowCardinality(String),
  partition UInt16,
  offset UInt64,
  `index` UInt32,
  organization_id UUID,
  service_id UUID,
  signature_id UUID,
  event_id UUID,
  event_id_given Bool,
  type Enum8('error' = 1, 'message' = 2, 'vital' = 3),
  received_at DateTime64(3, 'UTC'),
  occurred_at DateTime64(3, 'UTC'),
  session_id String,
  user_id String,
  release LowCardinality(String),
  environment LowCardinality(String),
  grouping_version LowCardinality(String),
  fingerprint String,
  grouping_parts String,
  error_type LowCardinality(String),
  message String,
  culprit String,
  category LowCardinality(String),
  handled Bool,
  level LowCardinality(String),
  stack String,
  frames String,
  causes String,
  breadcrumbs String,
  tags Map(LowCardinality(String), String),
  url String,
  sdk LowCardinality(String),
  name LowCardinality(String),
  value Float64,
  truncated Bool
) ENGINE = MergeTree
PARTITION BY toYYYYMM(received_at)
ORDER BY (service_id, signature_id, received_at)
SETTINGS non_replicated_deduplication_window = 10000, fsync_after_insert = 1;

-- Only repeatable states here: a row counted twice must not show.
CREATE TABLE IF NOT EXISTS signature_sessions (
  service_id UUID,
  signature_id UUID,
  sessions AggregateFunction(uniqExact, String)
) ENGINE = AggregatingMergeTree
ORDER BY (service_id, signature_id)
SETTINGS non_replicated_deduplication_window = 10000, fsync_after_insert = 1;

CREATE MATERIALIZED VIEW IF NOT EXISTS signature_sessions_view TO signature_sessions AS
SELECT service_id, signature_id, uniqExactState(session_id) AS sessions
FROM beacon_events WHERE type != 'vital' AND session_id != ''
GROUP BY service_id, signature_id;

-- Answers "was this event id seen in the last hour?"; the bounded filter of a consumer only says "perhaps".
CREATE TABLE IF NOT EXISTS recent_event_ids (
  received_at DateTime64(3, 'UTC'),
  service_id UUID,
  event_id UUID,
  log_id LowCardinality(String),
  partition UInt16,
  offset UInt64
) ENGINE = MergeTree
PARTITION BY toStartOfHour(received_at)
ORDER BY (event_id, service_id, received_at)
TTL toDateTime(received_at) + INTERVAL 1 DAY
SETTINGS non_replicated_deduplication_window = 10000, fsync_after_insert = 1, ttl_only_drop_parts = 1;

CREATE MATERIALIZED VIEW IF NOT EXISTS recent_event_ids_view TO recent_event_ids AS
SELECT received_at, service_id, event_id, log_id, partition, offset FROM beacon_events WHERE event_id_given;

CREATE TABLE IF NOT EXISTS metric_samples (
  log_id LowCardinality(String),
  partition UInt16,
  offset UInt64,
  `index` UInt32,
  organization_id UUID,
  service_id UUID,
  name LowCardinality(String),
  value Float64,
  received_at DateTime64(3, 'UTC'),
  reported_at DateTime64(3, 'UTC')
) ENGINE = MergeTree
PARTITION BY toYYYYMM(received_at)
ORDER BY (service_id, name, received_at)
SETTINGS non_replicated_deduplication_window = 10000, fsync_after_insert = 1;

CREATE TABLE IF NOT EXISTS heartbeat_pings (
  log_id LowCardinality(String),
  partition UInt16,
  offset UInt64,
  `index` UInt32,
  organization_id UUID,
  monitor_id UUID,
  received_at DateTime64(3, 'UTC'),
  status Enum8('ok' = 1, 'start' = 2, 'fail' = 3, 'log' = 4),
  run_id String,
  exit_code Nullable(Int32),
  duration_ms Nullable(UInt32),
  message String
) ENGINE = MergeTree
PARTITION BY toYYYYMM(received_at)
ORDER BY (monitor_id, received_at)
SETTINGS non_replicated_deduplication_window = 10000, fsync_after_insert = 1;
