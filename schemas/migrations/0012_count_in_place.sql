-- Room on each page for a signature's next version, and stacks and frames beside the table once a row is large: counting copies neither.
ALTER TABLE "error_signatures" SET (fillfactor = 60, toast_tuple_target = 128);--> statement-breakpoint
DROP INDEX "error_signatures_list";--> statement-breakpoint
ALTER TABLE "error_signatures" ADD COLUMN "last_seen_slot" timestamp (3) with time zone GENERATED ALWAYS AS (date_bin('5 minutes', last_seen, 'epoch'::timestamptz)) STORED NOT NULL;--> statement-breakpoint
CREATE INDEX "error_signatures_list" ON "error_signatures" USING btree ("organization_id","last_seen_slot","service_id","status","ignore_until","category","priority","first_seen","id");