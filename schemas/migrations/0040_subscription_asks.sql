CREATE TABLE "daily_asks" (
	"organization_id" uuid NOT NULL,
	"day" date NOT NULL,
	"source" text NOT NULL,
	"asks" integer NOT NULL,
	CONSTRAINT "daily_asks_organization_id_day_source_pk" PRIMARY KEY("organization_id","day","source")
);
--> statement-breakpoint
DROP INDEX "subscribers_asked";--> statement-breakpoint
ALTER TABLE "subscribers" ADD COLUMN "asked_by" text;--> statement-breakpoint
ALTER TABLE "daily_asks" ADD CONSTRAINT "daily_asks_organization_id_organizations_id_fk" FOREIGN KEY ("organization_id") REFERENCES "public"."organizations"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "daily_asks_day" ON "daily_asks" USING btree ("day");--> statement-breakpoint
CREATE INDEX "subscribers_room" ON "subscribers" USING btree ("status_page_id","state");--> statement-breakpoint
ALTER TABLE daily_asks ENABLE ROW LEVEL SECURITY;
--> statement-breakpoint
CREATE POLICY tenant ON daily_asks TO pharos_tenant USING (organization_id = (SELECT pharos_organization()));
