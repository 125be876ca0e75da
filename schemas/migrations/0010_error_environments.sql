CREATE TABLE "error_environments" (
	"organization_id" uuid NOT NULL,
	"environment" text NOT NULL,
	"signature_id" uuid NOT NULL,
	CONSTRAINT "error_environments_organization_id_environment_signature_id_pk" PRIMARY KEY("organization_id","environment","signature_id")
);
--> statement-breakpoint
DROP INDEX "audit_entries_list";--> statement-breakpoint
ALTER TABLE "error_environments" ADD CONSTRAINT "error_environments_signature_id_error_signatures_id_fk" FOREIGN KEY ("signature_id") REFERENCES "public"."error_signatures"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "error_environments_signature" ON "error_environments" USING btree ("signature_id");--> statement-breakpoint
CREATE INDEX "releases_service" ON "releases" USING btree ("organization_id","service_id","created_at");--> statement-breakpoint
CREATE INDEX "audit_entries_action" ON "audit_entries" USING btree ("organization_id","action","created_at","id");--> statement-breakpoint
CREATE INDEX "audit_entries_resource" ON "audit_entries" USING btree ("organization_id","resource_type","created_at","id");--> statement-breakpoint
CREATE INDEX "audit_entries_list" ON "audit_entries" USING btree ("organization_id","created_at","id","actor_id","actor_name","actor_type");
--> statement-breakpoint
INSERT INTO "error_environments" SELECT organization_id, environment, id FROM error_signatures;
--> statement-breakpoint
GRANT SELECT, INSERT, UPDATE, DELETE ON error_environments TO pharos_tenant;
--> statement-breakpoint
ALTER TABLE error_environments ENABLE ROW LEVEL SECURITY;
--> statement-breakpoint
CREATE POLICY tenant ON error_environments TO pharos_tenant USING (organization_id = (SELECT pharos_organization()));
