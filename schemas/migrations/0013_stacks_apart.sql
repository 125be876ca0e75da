-- Counting rewrites a signature's row: what never changes stands apart, and each page has room for a row's next version.
INSERT INTO "error_stacks" SELECT id, organization_id, stack_trace, frames, grouping_parts FROM error_signatures;--> statement-breakpoint
ALTER TABLE "error_signatures" SET (fillfactor = 60);--> statement-breakpoint
ALTER TABLE "error_signatures" DROP COLUMN "stack_trace";--> statement-breakpoint
ALTER TABLE "error_signatures" DROP COLUMN "frames";--> statement-breakpoint
ALTER TABLE "error_signatures" DROP COLUMN "grouping_parts";