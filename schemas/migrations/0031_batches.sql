CREATE TYPE "public"."dead_letter_state" AS ENUM('rows_stand', 'open', 'replayed', 'discarded');--> statement-breakpoint
CREATE TABLE "daily_creations" (
	"service_id" uuid NOT NULL,
	"day" date NOT NULL,
	"kind" text NOT NULL,
	"count" integer NOT NULL,
	CONSTRAINT "daily_creations_service_id_day_kind_pk" PRIMARY KEY("service_id","day","kind")
);
--> statement-breakpoint
CREATE TABLE "dead_letters" (
	"id" uuid PRIMARY KEY NOT NULL,
	"consumer_group" text NOT NULL,
	"log_id" text NOT NULL,
	"topic" text NOT NULL,
	"partition" integer NOT NULL,
	"offset" bigint NOT NULL,
	"entry" integer NOT NULL,
	"reason" text NOT NULL,
	"bytes" "bytea" NOT NULL,
	"state" "dead_letter_state" NOT NULL,
	"replays" integer DEFAULT 0 NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"answered_at" timestamp (3) with time zone
);
--> statement-breakpoint
CREATE TABLE "log_topics" (
	"log_id" text NOT NULL,
	"topic" text NOT NULL,
	"partitions" integer NOT NULL,
	CONSTRAINT "log_topics_log_id_topic_pk" PRIMARY KEY("log_id","topic")
);
--> statement-breakpoint
ALTER TABLE "cursors" ADD COLUMN "lease" uuid;--> statement-breakpoint
ALTER TABLE "cursors" ADD COLUMN "legacy_insert" text;--> statement-breakpoint
ALTER TABLE "daily_creations" ADD CONSTRAINT "daily_creations_service_id_services_id_fk" FOREIGN KEY ("service_id") REFERENCES "public"."services"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE UNIQUE INDEX "dead_letters_position" ON "dead_letters" USING btree ("consumer_group","log_id","topic","partition","offset","entry");--> statement-breakpoint
CREATE INDEX "dead_letters_state" ON "dead_letters" USING btree ("state","created_at");