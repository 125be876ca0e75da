-- The event ids that clients gave, for a day: a partition's filter is filled with its hashes, and ids are looked up by hash.
-- The order serves both. A repeated row of the view replaces itself, because its place is part of the key. The
-- event id stands before the place, so that ids which were made to have one hash are told apart by the index. An insert
-- may reach 100 partitions: frames that an edge could not send for 25 days.
CREATE TABLE IF NOT EXISTS seen_event_ids (
  log_id LowCardinality(String),
  partition UInt16,
  slot DateTime('UTC'),
  id_hash UInt64,
  event_id UUID,
  service_id UUID,
  received_at DateTime64(3, 'UTC'),
  offset UInt64,
  `index` UInt32
) ENGINE = ReplacingMergeTree
PARTITION BY toStartOfInterval(received_at, INTERVAL 6 HOUR)
PRIMARY KEY (log_id, partition, slot, id_hash, event_id)
ORDER BY (log_id, partition, slot, id_hash, event_id, offset, `index`)
TTL toDateTime(received_at) + INTERVAL 1 DAY
SETTINGS non_replicated_deduplication_window = 10000, fsync_after_insert = 1, fsync_part_directory = 1, min_rows_to_fsync_after_merge = 1,
  old_parts_lifetime = 480, ttl_only_drop_parts = 1, index_granularity = 1024;

-- The hash is the one of processors/errors/seen-events/id-hash.ts.
CREATE MATERIALIZED VIEW IF NOT EXISTS seen_event_ids_view TO seen_event_ids AS
SELECT log_id, partition, toStartOfInterval(received_at, INTERVAL 20 MINUTE) AS slot,
  bitOr(bitShiftLeft(toUInt64(murmurHash3_32(concat(UUIDToNum(service_id), UUIDToNum(event_id)))), 32), toUInt64(xxHash32(concat(UUIDToNum(service_id), UUIDToNum(event_id))))) AS id_hash,
  event_id, service_id, received_at, offset, `index`
FROM beacon_events WHERE event_id_given;

-- What came before the view; repeated, it changes nothing.
INSERT INTO seen_event_ids (log_id, partition, slot, id_hash, event_id, service_id, received_at, offset, `index`)
SELECT log_id, partition, toStartOfInterval(received_at, INTERVAL 20 MINUTE) AS slot,
  bitOr(bitShiftLeft(toUInt64(murmurHash3_32(concat(UUIDToNum(service_id), UUIDToNum(event_id)))), 32), toUInt64(xxHash32(concat(UUIDToNum(service_id), UUIDToNum(event_id))))) AS id_hash,
  event_id, service_id, received_at, offset, `index`
FROM beacon_events WHERE event_id_given AND received_at > now() - INTERVAL 2 HOUR;

-- The old table stays, empty of news: another process may be running these files at the same time, and reads it.
DROP VIEW IF EXISTS recent_event_ids_view;
