-- A statement that writes no rows fires its trigger too: the fan-out, which looks for new events, woke itself for ever.
CREATE OR REPLACE FUNCTION pharos_announce_event() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF EXISTS (SELECT FROM written) THEN PERFORM pg_notify('pharos_events', ''); END IF;
  RETURN NULL;
END $$;
--> statement-breakpoint
DROP TRIGGER announce_event ON events;
--> statement-breakpoint
CREATE TRIGGER announce_event AFTER INSERT ON events REFERENCING NEW TABLE AS written FOR EACH STATEMENT EXECUTE FUNCTION pharos_announce_event();
--> statement-breakpoint
DROP TRIGGER announce_delivery ON webhook_deliveries;
--> statement-breakpoint
CREATE TRIGGER announce_delivery AFTER INSERT ON webhook_deliveries REFERENCING NEW TABLE AS written FOR EACH STATEMENT EXECUTE FUNCTION pharos_announce_event();
