-- Events of a spike are all rows; only some of them have their details.
ALTER TABLE beacon_events ADD COLUMN IF NOT EXISTS detailed Bool DEFAULT true AFTER truncated;
