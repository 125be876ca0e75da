ALTER TABLE "source_map_files" ADD COLUMN "stored_bytes" integer DEFAULT 0 NOT NULL;--> statement-breakpoint
CREATE INDEX "source_map_files_stored" ON "source_map_files" USING btree ("organization_id","stored_bytes");--> statement-breakpoint
CREATE INDEX "workflow_runs_claimed" ON "workflow_runs" USING btree ("organization_id","due_at") WHERE finished_at is null and lease_token is not null;--> statement-breakpoint
UPDATE "source_map_files" SET "stored_bytes" = octet_length("index");
