CREATE TYPE "public"."mail_kind" AS ENUM('confirmation', 'announcement', 'notice');--> statement-breakpoint
CREATE TYPE "public"."mail_status" AS ENUM('pending', 'sent', 'failed');--> statement-breakpoint
CREATE TYPE "public"."post_status" AS ENUM('pending', 'sent', 'failed');--> statement-breakpoint
CREATE TYPE "public"."subscriber_kind" AS ENUM('email', 'webhook');--> statement-breakpoint
CREATE TYPE "public"."subscriber_state" AS ENUM('pending', 'active', 'quarantined', 'unsubscribed');--> statement-breakpoint
CREATE TABLE "mails" (
	"id" uuid PRIMARY KEY NOT NULL,
	"organization_id" uuid NOT NULL,
	"kind" "mail_kind" NOT NULL,
	"to" text NOT NULL,
	"subject" text NOT NULL,
	"text" text,
	"html" text,
	"headers" jsonb,
	"subscriber_id" uuid,
	"event_id" uuid,
	"status" "mail_status" DEFAULT 'pending' NOT NULL,
	"attempts" integer DEFAULT 0 NOT NULL,
	"due_at" timestamp (3) with time zone NOT NULL,
	"lease_token" uuid,
	"error" text,
	"created_at" timestamp (3) with time zone NOT NULL,
	"finished_at" timestamp (3) with time zone
);
--> statement-breakpoint
CREATE TABLE "announcements" (
	"id" uuid PRIMARY KEY NOT NULL,
	"organization_id" uuid NOT NULL,
	"cursor" uuid,
	"due_at" timestamp (3) with time zone NOT NULL,
	"lease_token" uuid,
	"created_at" timestamp (3) with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "subscriber_posts" (
	"id" uuid PRIMARY KEY NOT NULL,
	"organization_id" uuid NOT NULL,
	"subscriber_id" uuid NOT NULL,
	"event_id" uuid,
	"body" jsonb,
	"status" "post_status" DEFAULT 'pending' NOT NULL,
	"attempts" integer DEFAULT 0 NOT NULL,
	"due_at" timestamp (3) with time zone NOT NULL,
	"lease_token" uuid,
	"error" text,
	"created_at" timestamp (3) with time zone NOT NULL,
	"finished_at" timestamp (3) with time zone
);
--> statement-breakpoint
CREATE TABLE "subscribers" (
	"id" uuid PRIMARY KEY NOT NULL,
	"organization_id" uuid NOT NULL,
	"status_page_id" uuid NOT NULL,
	"kind" "subscriber_kind" NOT NULL,
	"address" text NOT NULL,
	"address_key" text NOT NULL,
	"target" text NOT NULL,
	"services" uuid[] DEFAULT '{}' NOT NULL,
	"wanted_services" uuid[] DEFAULT '{}' NOT NULL,
	"state" "subscriber_state" DEFAULT 'pending' NOT NULL,
	"confirm_hash" "bytea",
	"confirm_expires_at" timestamp (3) with time zone,
	"secret" "bytea" NOT NULL,
	"bounces" integer DEFAULT 0 NOT NULL,
	"asks" integer DEFAULT 0 NOT NULL,
	"asks_since" timestamp (3) with time zone NOT NULL,
	"last_asked_at" timestamp (3) with time zone NOT NULL,
	"confirmed_at" timestamp (3) with time zone,
	"created_at" timestamp (3) with time zone NOT NULL,
	"updated_at" timestamp (3) with time zone NOT NULL
);
--> statement-breakpoint
ALTER TABLE "mails" ADD CONSTRAINT "mails_organization_id_organizations_id_fk" FOREIGN KEY ("organization_id") REFERENCES "public"."organizations"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "mails" ADD CONSTRAINT "mails_subscriber_id_subscribers_id_fk" FOREIGN KEY ("subscriber_id") REFERENCES "public"."subscribers"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "announcements" ADD CONSTRAINT "announcements_id_events_id_fk" FOREIGN KEY ("id") REFERENCES "public"."events"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "subscriber_posts" ADD CONSTRAINT "subscriber_posts_subscriber_id_subscribers_id_fk" FOREIGN KEY ("subscriber_id") REFERENCES "public"."subscribers"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "subscribers" ADD CONSTRAINT "subscribers_organization_id_organizations_id_fk" FOREIGN KEY ("organization_id") REFERENCES "public"."organizations"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "subscribers" ADD CONSTRAINT "subscribers_status_page_id_status_pages_id_fk" FOREIGN KEY ("status_page_id") REFERENCES "public"."status_pages"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE UNIQUE INDEX "mails_once" ON "mails" USING btree ("event_id","subscriber_id");--> statement-breakpoint
CREATE INDEX "mails_due" ON "mails" USING btree ("due_at") WHERE status = 'pending';--> statement-breakpoint
CREATE INDEX "mails_subscriber" ON "mails" USING btree ("subscriber_id");--> statement-breakpoint
CREATE INDEX "mails_organization" ON "mails" USING btree ("organization_id");--> statement-breakpoint
CREATE INDEX "mails_finished" ON "mails" USING btree ("finished_at") WHERE status <> 'pending';--> statement-breakpoint
CREATE INDEX "announcements_due" ON "announcements" USING btree ("due_at");--> statement-breakpoint
CREATE UNIQUE INDEX "subscriber_posts_once" ON "subscriber_posts" USING btree ("event_id","subscriber_id");--> statement-breakpoint
CREATE INDEX "subscriber_posts_due" ON "subscriber_posts" USING btree ("due_at") WHERE status = 'pending';--> statement-breakpoint
CREATE INDEX "subscriber_posts_subscriber" ON "subscriber_posts" USING btree ("subscriber_id");--> statement-breakpoint
CREATE INDEX "subscriber_posts_finished" ON "subscriber_posts" USING btree ("finished_at") WHERE status <> 'pending';--> statement-breakpoint
CREATE UNIQUE INDEX "subscribers_address" ON "subscribers" USING btree ("status_page_id","kind","address_key");--> statement-breakpoint
CREATE UNIQUE INDEX "subscribers_confirm" ON "subscribers" USING btree ("confirm_hash") WHERE confirm_hash is not null;--> statement-breakpoint
CREATE INDEX "subscribers_active" ON "subscribers" USING btree ("organization_id","id") WHERE state = 'active';--> statement-breakpoint
CREATE INDEX "subscribers_page" ON "subscribers" USING btree ("status_page_id","created_at");--> statement-breakpoint
CREATE INDEX "subscribers_asked" ON "subscribers" USING btree ("status_page_id","last_asked_at");--> statement-breakpoint
CREATE INDEX "subscribers_everywhere" ON "subscribers" USING btree ("target","last_asked_at");--> statement-breakpoint
GRANT SELECT, INSERT, UPDATE, DELETE ON mails, subscribers, announcements, subscriber_posts TO pharos_tenant;
--> statement-breakpoint
ALTER TABLE mails ENABLE ROW LEVEL SECURITY;
--> statement-breakpoint
CREATE POLICY tenant ON mails TO pharos_tenant USING (organization_id = (SELECT pharos_organization()));
--> statement-breakpoint
ALTER TABLE subscribers ENABLE ROW LEVEL SECURITY;
--> statement-breakpoint
CREATE POLICY tenant ON subscribers TO pharos_tenant USING (organization_id = (SELECT pharos_organization()));
--> statement-breakpoint
ALTER TABLE announcements ENABLE ROW LEVEL SECURITY;
--> statement-breakpoint
CREATE POLICY tenant ON announcements TO pharos_tenant USING (organization_id = (SELECT pharos_organization()));
--> statement-breakpoint
ALTER TABLE subscriber_posts ENABLE ROW LEVEL SECURITY;
--> statement-breakpoint
CREATE POLICY tenant ON subscriber_posts TO pharos_tenant USING (organization_id = (SELECT pharos_organization()));
