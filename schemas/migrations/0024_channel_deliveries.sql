ALTER TABLE "channels" ADD COLUMN "due_at" timestamp (3) with time zone DEFAULT 'epoch' NOT NULL;--> statement-breakpoint
ALTER TABLE "channels" ADD COLUMN "lease_token" uuid;--> statement-breakpoint
ALTER TABLE "notifications" ADD COLUMN "first_attempt_at" timestamp (3) with time zone;--> statement-breakpoint
ALTER TABLE "notifications" ADD COLUMN "coalesced_into" uuid;--> statement-breakpoint
ALTER TABLE "notifications" ADD COLUMN "position" bigint NOT NULL GENERATED ALWAYS AS IDENTITY (sequence name "notifications_position_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1);--> statement-breakpoint
CREATE INDEX "notifications_waiting" ON "notifications" USING btree ("channel_id","created_at") WHERE status = 'pending';--> statement-breakpoint
CREATE INDEX "notifications_created" ON "notifications" USING btree ("created_at");--> statement-breakpoint
ALTER TABLE "notifications" DROP COLUMN "lease_token";--> statement-breakpoint
CREATE TRIGGER announce_notification AFTER INSERT ON notifications REFERENCING NEW TABLE AS written FOR EACH STATEMENT EXECUTE FUNCTION pharos_announce_event();
