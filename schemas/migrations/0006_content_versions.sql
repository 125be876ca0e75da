CREATE TABLE "content_versions" (
	"organization_id" uuid NOT NULL,
	"shard" smallint NOT NULL,
	"version" bigint NOT NULL,
	CONSTRAINT "content_versions_organization_id_shard_pk" PRIMARY KEY("organization_id","shard")
);

--> statement-breakpoint
GRANT SELECT ON content_versions TO pharos_tenant;
--> statement-breakpoint
ALTER TABLE content_versions ENABLE ROW LEVEL SECURITY;
--> statement-breakpoint
CREATE POLICY tenant ON content_versions TO pharos_tenant USING (organization_id = (SELECT pharos_organization()));
--> statement-breakpoint
-- Once for each transaction and organization: the setting lasts as long as the transaction, and goes with a savepoint as the count does.
CREATE FUNCTION pharos_count_change() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
DECLARE
  organization uuid;
BEGIN
  IF TG_TABLE_NAME = 'organizations' THEN organization := NEW.id;
  ELSIF TG_OP = 'DELETE' THEN organization := OLD.organization_id;
  ELSE organization := NEW.organization_id;
  END IF;
  IF current_setting('pharos.counted', true) IS DISTINCT FROM organization::text THEN
    INSERT INTO content_versions (organization_id, shard, version) VALUES (organization, pg_backend_pid() % 16, 1)
      ON CONFLICT (organization_id, shard) DO UPDATE SET version = content_versions.version + 1;
    PERFORM set_config('pharos.counted', organization::text, true);
  END IF;
  RETURN NULL;
END $$;
--> statement-breakpoint
-- Deferred: the row of counts is locked last and for a moment only, so that this can neither deadlock nor make writers queue.
CREATE CONSTRAINT TRIGGER count_change AFTER INSERT OR UPDATE OR DELETE ON services DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION pharos_count_change();
--> statement-breakpoint
CREATE CONSTRAINT TRIGGER count_change AFTER INSERT OR UPDATE OR DELETE ON incidents DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION pharos_count_change();
--> statement-breakpoint
CREATE CONSTRAINT TRIGGER count_change AFTER INSERT OR UPDATE OR DELETE ON incident_services DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION pharos_count_change();
--> statement-breakpoint
CREATE CONSTRAINT TRIGGER count_change AFTER INSERT OR UPDATE OR DELETE ON incident_updates DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION pharos_count_change();
--> statement-breakpoint
CREATE CONSTRAINT TRIGGER count_change AFTER UPDATE OF default_thresholds ON organizations DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION pharos_count_change();
