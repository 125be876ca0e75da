CREATE TABLE "source_map_files" (
	"organization_id" uuid NOT NULL,
	"hash" text NOT NULL,
	"size_bytes" integer NOT NULL,
	"debug_id" uuid,
	"index" "bytea" NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "source_map_files_organization_id_hash_pk" PRIMARY KEY("organization_id","hash")
);
--> statement-breakpoint
CREATE TABLE "source_maps" (
	"id" uuid PRIMARY KEY NOT NULL,
	"organization_id" uuid NOT NULL,
	"service_id" uuid NOT NULL,
	"release" text NOT NULL,
	"url" text NOT NULL,
	"hash" text NOT NULL,
	"debug_id" uuid,
	"uploaded_at" timestamp (3) with time zone NOT NULL
);
--> statement-breakpoint
ALTER TABLE "source_map_files" ADD CONSTRAINT "source_map_files_organization_id_organizations_id_fk" FOREIGN KEY ("organization_id") REFERENCES "public"."organizations"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "source_maps" ADD CONSTRAINT "source_maps_organization_id_organizations_id_fk" FOREIGN KEY ("organization_id") REFERENCES "public"."organizations"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "source_maps" ADD CONSTRAINT "source_maps_service_id_services_id_fk" FOREIGN KEY ("service_id") REFERENCES "public"."services"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "source_maps" ADD CONSTRAINT "source_maps_file_fk" FOREIGN KEY ("organization_id","hash") REFERENCES "public"."source_map_files"("organization_id","hash") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE UNIQUE INDEX "source_maps_url" ON "source_maps" USING btree ("service_id","release","url");--> statement-breakpoint
CREATE INDEX "source_maps_list" ON "source_maps" USING btree ("organization_id","uploaded_at");--> statement-breakpoint
CREATE INDEX "source_maps_debug_id" ON "source_maps" USING btree ("service_id","debug_id");--> statement-breakpoint
CREATE INDEX "source_maps_file" ON "source_maps" USING btree ("organization_id","hash");
--> statement-breakpoint
-- An index is packed already.
ALTER TABLE source_map_files ALTER COLUMN "index" SET STORAGE EXTERNAL;
--> statement-breakpoint
GRANT SELECT, INSERT, UPDATE, DELETE ON source_map_files, source_maps TO pharos_tenant;
--> statement-breakpoint
ALTER TABLE source_map_files ENABLE ROW LEVEL SECURITY;
--> statement-breakpoint
CREATE POLICY tenant ON source_map_files TO pharos_tenant USING (organization_id = (SELECT pharos_organization()));
--> statement-breakpoint
ALTER TABLE source_maps ENABLE ROW LEVEL SECURITY;
--> statement-breakpoint
CREATE POLICY tenant ON source_maps TO pharos_tenant USING (organization_id = (SELECT pharos_organization()));
--> statement-breakpoint
-- A file goes with the last map that it belongs to, however that went: deleted, replaced, or with its service. The file is locked first, so that
-- what an upload adds to it meanwhile is seen by the second statement.
CREATE FUNCTION pharos_drop_unused_source_map_files() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
  PERFORM 1 FROM source_map_files AS file WHERE (file.organization_id, file.hash) IN (SELECT organization_id, hash FROM gone) ORDER BY file.hash FOR UPDATE;
  DELETE FROM source_map_files AS file WHERE (file.organization_id, file.hash) IN (SELECT organization_id, hash FROM gone)
    AND NOT EXISTS (SELECT 1 FROM source_maps AS map WHERE map.organization_id = file.organization_id AND map.hash = file.hash);
  RETURN NULL;
END $$;
--> statement-breakpoint
CREATE TRIGGER drop_unused_files_on_delete AFTER DELETE ON source_maps REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION pharos_drop_unused_source_map_files();
--> statement-breakpoint
CREATE TRIGGER drop_unused_files_on_update AFTER UPDATE ON source_maps REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION pharos_drop_unused_source_map_files();
--> statement-breakpoint
-- Whoever keeps maps in memory hears which service's have changed.
CREATE FUNCTION pharos_announce_source_maps() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
  PERFORM pg_notify('pharos_source_maps', COALESCE(NEW.service_id, OLD.service_id)::text);
  RETURN NULL;
END $$;
--> statement-breakpoint
CREATE TRIGGER announce_source_maps AFTER INSERT OR UPDATE OR DELETE ON source_maps FOR EACH ROW EXECUTE FUNCTION pharos_announce_source_maps();
