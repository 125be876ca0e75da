ALTER TYPE "public"."notification_trigger" ADD VALUE 'code';--> statement-breakpoint
CREATE TABLE "daily_texts" (
	"subject" text NOT NULL,
	"day" date NOT NULL,
	"sent" integer NOT NULL,
	CONSTRAINT "daily_texts_subject_day_pk" PRIMARY KEY("subject","day")
);
--> statement-breakpoint
ALTER TABLE "channels" ADD COLUMN "confirmed_at" timestamp (3) with time zone;--> statement-breakpoint
ALTER TABLE "channels" ADD COLUMN "code_hash" "bytea";--> statement-breakpoint
ALTER TABLE "channels" ADD COLUMN "code_sent_at" timestamp (3) with time zone;--> statement-breakpoint
ALTER TABLE "channels" ADD COLUMN "code_tries" integer DEFAULT 0 NOT NULL;--> statement-breakpoint
-- Numbers that stand have been told things already.
UPDATE "channels" SET "confirmed_at" = now() WHERE "type" = 'sms';
