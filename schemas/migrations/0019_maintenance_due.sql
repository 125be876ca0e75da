ALTER TABLE "maintenance_windows" ADD COLUMN "reminded_of" timestamp (3) with time zone;--> statement-breakpoint
CREATE INDEX "maintenance_windows_to_start" ON "maintenance_windows" USING btree ("starts_at") WHERE status = 'scheduled';--> statement-breakpoint
CREATE INDEX "maintenance_windows_to_complete" ON "maintenance_windows" USING btree ("ends_at") WHERE status = 'in_progress';