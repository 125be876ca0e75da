DROP INDEX "error_signatures_release";--> statement-breakpoint
CREATE INDEX "error_signatures_release" ON "error_signatures" USING btree ("organization_id","service_id","release");