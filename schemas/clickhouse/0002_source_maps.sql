-- What an event said of its scripts, for maps that are uploaded after it.
ALTER TABLE beacon_events ADD COLUMN IF NOT EXISTS debug_ids String DEFAULT '' AFTER frames;
