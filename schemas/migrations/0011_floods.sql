CREATE TABLE "floods" (
	"organization_id" uuid PRIMARY KEY NOT NULL,
	"since" timestamp (3) with time zone NOT NULL,
	"until" timestamp (3) with time zone NOT NULL
);

--> statement-breakpoint
-- No tenant reads or writes it; the policy says whose a row would be.
ALTER TABLE floods ENABLE ROW LEVEL SECURITY;
--> statement-breakpoint
CREATE POLICY tenant ON floods TO pharos_tenant USING (organization_id = (SELECT pharos_organization()));
