DROP INDEX "audit_entries_organization";--> statement-breakpoint
DROP INDEX "idempotency_keys_created";--> statement-breakpoint
CREATE INDEX "incidents_open" ON "incidents" USING btree ("organization_id","created_at") WHERE status <> 'resolved';--> statement-breakpoint
CREATE INDEX "audit_entries_list" ON "audit_entries" USING btree ("organization_id","created_at","id","action","resource_type","actor_id","actor_name","actor_type");--> statement-breakpoint
CREATE INDEX "idempotency_keys_old" ON "idempotency_keys" USING btree ("organization_id","created_at");