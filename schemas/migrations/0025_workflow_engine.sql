CREATE TYPE "public"."workflow_trigger" AS ENUM('manual', 'event', 'schedule');--> statement-breakpoint
ALTER TYPE "public"."workflow_run_status" ADD VALUE 'waiting' BEFORE 'succeeded';--> statement-breakpoint
ALTER TABLE "events" ADD COLUMN "causes" uuid[] DEFAULT nullif(current_setting('pharos.workflow_causes', true), '')::uuid[];--> statement-breakpoint
ALTER TABLE "workflow_runs" ADD COLUMN "trigger" "workflow_trigger" DEFAULT 'manual' NOT NULL;--> statement-breakpoint
ALTER TABLE "workflow_runs" ADD COLUMN "event" jsonb;--> statement-breakpoint
ALTER TABLE "workflow_runs" ADD COLUMN "steps" jsonb DEFAULT '[]'::jsonb NOT NULL;--> statement-breakpoint
ALTER TABLE "workflow_runs" ADD COLUMN "position" text DEFAULT '/0';--> statement-breakpoint
ALTER TABLE "workflow_runs" ADD COLUMN "failures" integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "workflow_runs" ADD COLUMN "results" jsonb DEFAULT '{}'::jsonb NOT NULL;--> statement-breakpoint
ALTER TABLE "workflow_runs" ADD COLUMN "causes" uuid[] DEFAULT '{}' NOT NULL;--> statement-breakpoint
ALTER TABLE "workflow_runs" ADD COLUMN "due_at" timestamp (3) with time zone DEFAULT now() NOT NULL;--> statement-breakpoint
ALTER TABLE "workflow_runs" ALTER COLUMN "due_at" DROP DEFAULT;--> statement-breakpoint
ALTER TABLE "workflow_runs" ADD COLUMN "lease_token" uuid;--> statement-breakpoint
ALTER TABLE "workflows" ADD COLUMN "next_run_at" timestamp (3) with time zone;--> statement-breakpoint
CREATE INDEX "workflow_runs_due" ON "workflow_runs" USING btree ("due_at") WHERE finished_at is null;--> statement-breakpoint
CREATE INDEX "workflow_runs_unfinished" ON "workflow_runs" USING btree ("workflow_id") WHERE finished_at is null;--> statement-breakpoint
CREATE INDEX "workflow_runs_finished" ON "workflow_runs" USING btree ("finished_at");--> statement-breakpoint
CREATE INDEX "workflows_scheduled" ON "workflows" USING btree ("next_run_at") WHERE next_run_at is not null;--> statement-breakpoint
-- Queued when nothing could carry them out.
UPDATE "workflow_runs" SET status = 'failed', finished_at = now(), position = NULL WHERE finished_at IS NULL;
--> statement-breakpoint
-- To be planned; not to be made up for.
UPDATE "workflows" SET next_run_at = 'epoch' WHERE enabled AND trigger ->> 'type' = 'schedule';
