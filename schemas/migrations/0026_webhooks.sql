ALTER TABLE "webhook_deliveries" ADD COLUMN "url" text;--> statement-breakpoint
ALTER TABLE "webhook_deliveries" ADD COLUMN "request_headers" jsonb;--> statement-breakpoint
ALTER TABLE "webhooks" ADD COLUMN "previous_secret" text;--> statement-breakpoint
ALTER TABLE "webhooks" ADD COLUMN "previous_secret_expires_at" timestamp (3) with time zone;--> statement-breakpoint
CREATE INDEX "events_forgettable" ON "events" USING btree ("created_at") WHERE fanned_out_at is not null and type <> 'error.regressed';--> statement-breakpoint
CREATE INDEX "webhook_deliveries_event" ON "webhook_deliveries" USING btree ("event_id","webhook_id");