CREATE TYPE "public"."deletion_kind" AS ENUM('service', 'monitor');--> statement-breakpoint
CREATE TABLE "deletions" (
	"id" uuid PRIMARY KEY NOT NULL,
	"kind" "deletion_kind" NOT NULL,
	"deleted_at" timestamp (3) with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "periodic_work" (
	"name" text PRIMARY KEY NOT NULL,
	"due_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"lease_token" uuid
);
--> statement-breakpoint
CREATE INDEX "deletions_deleted" ON "deletions" USING btree ("deleted_at");--> statement-breakpoint
-- In the deleting transaction, also where an organization's deletion takes its services and monitors along.
CREATE FUNCTION pharos_note_deletion() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
BEGIN
  INSERT INTO deletions (id, kind, deleted_at) VALUES (OLD.id, TG_ARGV[0]::deletion_kind, clock_timestamp()) ON CONFLICT (id) DO NOTHING;
  RETURN NULL;
END $$;
--> statement-breakpoint
CREATE TRIGGER note_deletion AFTER DELETE ON services FOR EACH ROW EXECUTE FUNCTION pharos_note_deletion('service');
--> statement-breakpoint
CREATE TRIGGER note_deletion AFTER DELETE ON uptime_monitors FOR EACH ROW EXECUTE FUNCTION pharos_note_deletion('monitor');
--> statement-breakpoint
CREATE TRIGGER note_deletion AFTER DELETE ON ssl_monitors FOR EACH ROW EXECUTE FUNCTION pharos_note_deletion('monitor');
--> statement-breakpoint
CREATE TRIGGER note_deletion AFTER DELETE ON domain_monitors FOR EACH ROW EXECUTE FUNCTION pharos_note_deletion('monitor');
--> statement-breakpoint
CREATE TRIGGER note_deletion AFTER DELETE ON heartbeat_monitors FOR EACH ROW EXECUTE FUNCTION pharos_note_deletion('monitor');
--> statement-breakpoint
-- A heartbeat monitor's row stays, marked, so that edges hear of its deletion.
CREATE TRIGGER note_marked_deletion AFTER UPDATE OF deleted_at ON heartbeat_monitors FOR EACH ROW
  WHEN (OLD.deleted_at IS NULL AND NEW.deleted_at IS NOT NULL) EXECUTE FUNCTION pharos_note_deletion('monitor');
--> statement-breakpoint
-- What was deleted before deletions were noted stands in the audit log.
INSERT INTO deletions (id, kind, deleted_at)
SELECT DISTINCT resource_id, (CASE action WHEN 'service.deleted' THEN 'service' ELSE 'monitor' END)::deletion_kind, now() FROM audit_entries
WHERE action IN ('service.deleted', 'uptime_monitor.deleted', 'ssl_monitor.deleted', 'domain_monitor.deleted', 'heartbeat_monitor.deleted')
ON CONFLICT (id) DO NOTHING;
