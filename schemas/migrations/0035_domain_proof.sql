CREATE TYPE "public"."domain_status" AS ENUM('pending', 'verified', 'failed');--> statement-breakpoint
ALTER TABLE "status_pages" DROP CONSTRAINT "status_pages_custom_domain_unique";--> statement-breakpoint
ALTER TABLE "status_pages" ADD COLUMN "custom_domain_status" "domain_status";--> statement-breakpoint
ALTER TABLE "status_pages" ADD COLUMN "custom_domain_claimed_at" timestamp (3) with time zone;--> statement-breakpoint
ALTER TABLE "status_pages" ADD COLUMN "custom_domain_checked_at" timestamp (3) with time zone;--> statement-breakpoint
ALTER TABLE "status_pages" ADD COLUMN "custom_domain_failing_since" timestamp (3) with time zone;--> statement-breakpoint
-- Domains that stand go on leading to their pages, and are looked at from now on: without a record they end in 72 hours.
UPDATE "status_pages" SET "custom_domain_status" = 'verified', "custom_domain_claimed_at" = now() WHERE "custom_domain" IS NOT NULL;--> statement-breakpoint
CREATE UNIQUE INDEX "status_pages_domain_verified" ON "status_pages" USING btree ("custom_domain") WHERE custom_domain_status = 'verified';