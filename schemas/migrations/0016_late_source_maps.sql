CREATE TABLE "error_aliases" (
	"id" uuid PRIMARY KEY NOT NULL,
	"organization_id" uuid NOT NULL,
	"signature_id" uuid NOT NULL
);
--> statement-breakpoint
CREATE TABLE "late_source_maps" (
	"id" uuid PRIMARY KEY NOT NULL,
	"organization_id" uuid NOT NULL,
	"service_id" uuid NOT NULL,
	"release" text NOT NULL,
	"done_up_to" uuid,
	"due_at" timestamp (3) with time zone NOT NULL,
	"lease_token" uuid
);
--> statement-breakpoint
ALTER TABLE "error_aliases" ADD CONSTRAINT "error_aliases_organization_id_organizations_id_fk" FOREIGN KEY ("organization_id") REFERENCES "public"."organizations"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "error_aliases" ADD CONSTRAINT "error_aliases_signature_id_error_signatures_id_fk" FOREIGN KEY ("signature_id") REFERENCES "public"."error_signatures"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "late_source_maps" ADD CONSTRAINT "late_source_maps_organization_id_organizations_id_fk" FOREIGN KEY ("organization_id") REFERENCES "public"."organizations"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "late_source_maps" ADD CONSTRAINT "late_source_maps_service_id_services_id_fk" FOREIGN KEY ("service_id") REFERENCES "public"."services"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "error_aliases_signature" ON "error_aliases" USING btree ("signature_id");--> statement-breakpoint
CREATE INDEX "error_aliases_organization" ON "error_aliases" USING btree ("organization_id");--> statement-breakpoint
CREATE UNIQUE INDEX "late_source_maps_release" ON "late_source_maps" USING btree ("service_id","release");--> statement-breakpoint
CREATE INDEX "late_source_maps_due" ON "late_source_maps" USING btree ("due_at");--> statement-breakpoint
GRANT SELECT, INSERT, UPDATE, DELETE ON late_source_maps TO pharos_tenant;
--> statement-breakpoint
GRANT SELECT ON error_aliases TO pharos_tenant;
--> statement-breakpoint
ALTER TABLE error_aliases ENABLE ROW LEVEL SECURITY;
--> statement-breakpoint
CREATE POLICY tenant ON error_aliases TO pharos_tenant USING (organization_id = (SELECT pharos_organization()));
--> statement-breakpoint
ALTER TABLE late_source_maps ENABLE ROW LEVEL SECURITY;
--> statement-breakpoint
CREATE POLICY tenant ON late_source_maps TO pharos_tenant USING (organization_id = (SELECT pharos_organization()));
