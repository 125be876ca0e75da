-- The record of what was applied must not be lost after what it tells of was made.
ALTER TABLE schema_migrations MODIFY SETTING fsync_part_directory = 1, min_rows_to_fsync_after_merge = 1, old_parts_lifetime = 480;
