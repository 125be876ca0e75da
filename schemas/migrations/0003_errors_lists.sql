DROP INDEX "error_signatures_last_seen";--> statement-breakpoint
ALTER TABLE "service_opinions" ADD COLUMN "overruled" boolean DEFAULT false NOT NULL;--> statement-breakpoint
CREATE INDEX "error_signatures_list" ON "error_signatures" USING btree ("organization_id","last_seen","id","service_id","status","ignore_until","category","priority","first_seen");