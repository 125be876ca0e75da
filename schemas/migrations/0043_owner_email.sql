ALTER TABLE "organizations" ADD COLUMN "owner_email_confirmed_at" timestamp (3) with time zone;--> statement-breakpoint
ALTER TABLE "organizations" ADD COLUMN "code_hash" "bytea";--> statement-breakpoint
ALTER TABLE "organizations" ADD COLUMN "code_sent_at" timestamp (3) with time zone;--> statement-breakpoint
ALTER TABLE "organizations" ADD COLUMN "code_tries" integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "organizations" ADD COLUMN "codes_day" date;--> statement-breakpoint
ALTER TABLE "organizations" ADD COLUMN "codes" integer DEFAULT 0 NOT NULL;--> statement-breakpoint
-- Addresses that stand have been mailed already.
UPDATE "organizations" SET "owner_email_confirmed_at" = now() WHERE "owner_email" IS NOT NULL;
