CREATE TABLE "error_stacks" (
	"signature_id" uuid PRIMARY KEY NOT NULL,
	"organization_id" uuid NOT NULL,
	"stack_trace" text NOT NULL,
	"frames" jsonb NOT NULL,
	"grouping_parts" jsonb NOT NULL
);
--> statement-breakpoint
DROP INDEX "error_signatures_list";--> statement-breakpoint
ALTER TABLE "error_signatures" ADD COLUMN "last_seen_slot" timestamp (3) with time zone GENERATED ALWAYS AS (date_bin('5 minutes', last_seen, 'epoch'::timestamptz)) STORED NOT NULL;--> statement-breakpoint
ALTER TABLE "error_stacks" ADD CONSTRAINT "error_stacks_signature_id_error_signatures_id_fk" FOREIGN KEY ("signature_id") REFERENCES "public"."error_signatures"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "error_signatures_list" ON "error_signatures" USING btree ("organization_id","last_seen_slot","service_id","status","ignore_until","category","priority","first_seen","id");
--> statement-breakpoint
GRANT SELECT, INSERT, UPDATE, DELETE ON error_stacks TO pharos_tenant;
--> statement-breakpoint
ALTER TABLE error_stacks ENABLE ROW LEVEL SECURITY;
--> statement-breakpoint
CREATE POLICY tenant ON error_stacks TO pharos_tenant USING (organization_id = (SELECT pharos_organization()));
