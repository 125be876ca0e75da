ALTER TABLE "workflow_runs" ADD COLUMN "saved_by" jsonb DEFAULT '{"type": "system", "id": null, "name": "Pharos"}' NOT NULL;--> statement-breakpoint
ALTER TABLE "workflow_runs" ADD COLUMN "begun" integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "workflows" ADD COLUMN "disabled_reason" text;--> statement-breakpoint
ALTER TABLE "workflows" ADD COLUMN "saved_by" jsonb DEFAULT '{"type": "system", "id": null, "name": "Pharos"}' NOT NULL;--> statement-breakpoint
-- Workflows that stand were saved by whoever the audit log names last.
UPDATE "workflows" SET "saved_by" = saver."saved_by" FROM (
  SELECT DISTINCT ON ("resource_id") "resource_id", jsonb_build_object('type', "actor_type", 'id', "actor_id", 'name', "actor_name") AS "saved_by"
  FROM "audit_entries" WHERE "action" IN ('workflow.created', 'workflow.updated') ORDER BY "resource_id", "created_at" DESC, "id" DESC
) AS saver WHERE saver."resource_id" = "workflows"."id";--> statement-breakpoint
UPDATE "workflow_runs" SET "saved_by" = "workflows"."saved_by" FROM "workflows" WHERE "workflows"."id" = "workflow_runs"."workflow_id" AND "workflow_runs"."finished_at" IS NULL;
