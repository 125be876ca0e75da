ALTER TABLE "events" DROP CONSTRAINT "events_organization_id_organizations_id_fk";
--> statement-breakpoint
ALTER TABLE "audit_entries" DROP CONSTRAINT "audit_entries_organization_id_organizations_id_fk";

--> statement-breakpoint
CREATE FUNCTION pharos_delete_logs() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
BEGIN
  DELETE FROM events WHERE organization_id = OLD.id;
  DELETE FROM audit_entries WHERE organization_id = OLD.id;
  RETURN NULL;
END $$;
--> statement-breakpoint
CREATE TRIGGER delete_logs AFTER DELETE ON organizations FOR EACH ROW EXECUTE FUNCTION pharos_delete_logs();
--> statement-breakpoint
-- A commit that announces waits for every other such commit to reach the disk. Whoever sees an event that still waits knows
-- that it was announced, and that its fan-out looks again for as long as it finds any; an event that it nevertheless misses
-- waits for the next tick of the scheduler.
CREATE FUNCTION pharos_announce_first_event() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF EXISTS (SELECT FROM written)
    AND NOT EXISTS (SELECT FROM events WHERE fanned_out_at IS NULL AND id <> ALL (SELECT id FROM written)) THEN
    PERFORM pg_notify('pharos_events', '');
  END IF;
  RETURN NULL;
END $$;
--> statement-breakpoint
DROP TRIGGER announce_event ON events;
--> statement-breakpoint
CREATE TRIGGER announce_event AFTER INSERT ON events REFERENCING NEW TABLE AS written FOR EACH STATEMENT EXECUTE FUNCTION pharos_announce_first_event();
