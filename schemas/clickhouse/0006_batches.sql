-- Which consumer may insert rows of a partition: the one with the highest (epoch, lease). Every insert checks it.
CREATE TABLE IF NOT EXISTS insert_fences (
  consumer_group LowCardinality(String),
  log_id LowCardinality(String),
  partition UInt16,
  epoch UInt64,
  lease UUID,
  taken_at DateTime64(3, 'UTC') DEFAULT now64(3)
) ENGINE = MergeTree
ORDER BY (consumer_group, log_id, partition, epoch)
SETTINGS non_replicated_deduplication_window = 10000, fsync_after_insert = 1, fsync_part_directory = 1, min_rows_to_fsync_after_merge = 1, old_parts_lifetime = 480;

-- A part's folder is synced before an insert is confirmed, and a merged part before its sources are deleted.
ALTER TABLE beacon_events MODIFY SETTING fsync_part_directory = 1, min_rows_to_fsync_after_merge = 1, old_parts_lifetime = 480;
ALTER TABLE signature_slots MODIFY SETTING fsync_part_directory = 1, min_rows_to_fsync_after_merge = 1, old_parts_lifetime = 480;
ALTER TABLE metric_samples MODIFY SETTING fsync_part_directory = 1, min_rows_to_fsync_after_merge = 1, old_parts_lifetime = 480;
ALTER TABLE heartbeat_pings MODIFY SETTING fsync_part_directory = 1, min_rows_to_fsync_after_merge = 1, old_parts_lifetime = 480;
ALTER TABLE check_results MODIFY SETTING fsync_part_directory = 1, min_rows_to_fsync_after_merge = 1, old_parts_lifetime = 480;

-- A processor that takes partitions over reads what stands of them by place, whatever the table's size.
ALTER TABLE beacon_events ADD PROJECTION IF NOT EXISTS by_place (SELECT log_id, partition, offset, `index`, service_id, signature_id, received_at ORDER BY log_id, partition, offset);
ALTER TABLE metric_samples ADD PROJECTION IF NOT EXISTS by_place (SELECT log_id, partition, offset, `index`, service_id, name, received_at ORDER BY log_id, partition, offset);
ALTER TABLE heartbeat_pings ADD PROJECTION IF NOT EXISTS by_place (SELECT log_id, partition, offset, `index`, monitor_id, received_at ORDER BY log_id, partition, offset);

-- In the background: until it is done, parts written before are read whole.
ALTER TABLE beacon_events MATERIALIZE PROJECTION by_place;
ALTER TABLE metric_samples MATERIALIZE PROJECTION by_place;
ALTER TABLE heartbeat_pings MATERIALIZE PROJECTION by_place;
