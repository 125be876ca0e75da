/** Tables in ClickHouse whose rows must be on the disk once they are confirmed. Those that nothing is written to any more are left out. */
export const DURABLE_TABLES = [
  "beacon_events",
  "metric_samples",
  "heartbeat_pings",
  "check_results",
  "signature_slots",
  "seen_event_ids",
  "insert_fences",
  "schema_migrations",
] as const;
