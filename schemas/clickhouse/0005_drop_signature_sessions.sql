-- signature_slots has them. In a file of its own: until the one before is done, it may have to be repeated.
DROP TABLE IF EXISTS signature_sessions;
