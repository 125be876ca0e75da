-- A processor of version 0.1 that still runs ignores the fences of its successors. Its inserts named a bare token; those of batches say so.
ALTER TABLE beacon_events ADD CONSTRAINT IF NOT EXISTS inserted_by_batches CHECK getSetting('insert_deduplication_token') = '' OR startsWith(getSetting('insert_deduplication_token'), 'batch/');
ALTER TABLE metric_samples ADD CONSTRAINT IF NOT EXISTS inserted_by_batches CHECK getSetting('insert_deduplication_token') = '' OR startsWith(getSetting('insert_deduplication_token'), 'batch/');
ALTER TABLE heartbeat_pings ADD CONSTRAINT IF NOT EXISTS inserted_by_batches CHECK getSetting('insert_deduplication_token') = '' OR startsWith(getSetting('insert_deduplication_token'), 'batch/');
