-- What a processor of version 0.1 may have left running in ClickHouse: whoever takes the partition over ends it. Such a
-- processor fails from here on, because it cannot open another range.
UPDATE "cursors" SET "legacy_insert" = "range_token" WHERE "range_token" IS NOT NULL;--> statement-breakpoint
ALTER TABLE "cursors" DROP COLUMN "range_last";--> statement-breakpoint
ALTER TABLE "cursors" DROP COLUMN "range_token";
