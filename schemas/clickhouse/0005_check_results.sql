-- What monitors found: kept for 30 days.
CREATE TABLE IF NOT EXISTS check_results (
  id UUID,
  organization_id UUID,
  kind LowCardinality(String),
  monitor_id UUID,
  checked_at DateTime64(3, 'UTC'),
  status LowCardinality(String),
  error String,
  response_time_ms Nullable(UInt32),
  dns_ms Nullable(UInt32),
  connect_ms Nullable(UInt32),
  tls_ms Nullable(UInt32),
  first_byte_ms Nullable(UInt32),
  status_code Nullable(UInt16),
  days_until_expiry Nullable(Int32),
  is_valid Nullable(Bool)
) ENGINE = MergeTree
PARTITION BY toYYYYMM(checked_at)
ORDER BY (monitor_id, checked_at)
TTL toDateTime(checked_at) + INTERVAL 30 DAY
SETTINGS non_replicated_deduplication_window = 10000, fsync_after_insert = 1;
