CREATE TYPE "public"."maintenance_status" AS ENUM('scheduled', 'in_progress', 'completed', 'cancelled');--> statement-breakpoint
CREATE TYPE "public"."channel_type" AS ENUM('slack', 'webhook', 'discord', 'teams', 'pagerduty', 'sms');--> statement-breakpoint
CREATE TYPE "public"."announcement_type" AS ENUM('info', 'warning', 'critical', 'success');--> statement-breakpoint
CREATE TYPE "public"."border_radius" AS ENUM('none', 'sm', 'md', 'lg', 'full');--> statement-breakpoint
CREATE TYPE "public"."design_state" AS ENUM('draft', 'published', 'archived');--> statement-breakpoint
CREATE TYPE "public"."font_family" AS ENUM('system', 'inter', 'roboto', 'open_sans', 'lato', 'georgia', 'mono');--> statement-breakpoint
CREATE TYPE "public"."header_style" AS ENUM('left', 'center', 'banner');--> statement-breakpoint
CREATE TYPE "public"."page_theme" AS ENUM('classic', 'minimal', 'compact', 'high_contrast');--> statement-breakpoint
CREATE TYPE "public"."page_visibility" AS ENUM('public', 'unlisted', 'password', 'ip_restricted', 'private');--> statement-breakpoint
CREATE TYPE "public"."template_mode" AS ENUM('default', 'custom');--> statement-breakpoint
CREATE TYPE "public"."theme_mode" AS ENUM('light', 'dark', 'system');--> statement-breakpoint
CREATE TYPE "public"."workflow_run_status" AS ENUM('queued', 'running', 'succeeded', 'failed');--> statement-breakpoint
CREATE TABLE "releases" (
	"id" uuid PRIMARY KEY NOT NULL,
	"organization_id" uuid NOT NULL,
	"service_id" uuid NOT NULL,
	"version" text NOT NULL,
	"environment" text,
	"url" text,
	"commits" jsonb DEFAULT '[]'::jsonb NOT NULL,
	"released_at" timestamp (3) with time zone,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "maintenance_updates" (
	"id" uuid PRIMARY KEY NOT NULL,
	"maintenance_window_id" uuid NOT NULL,
	"status" "maintenance_status" NOT NULL,
	"message" text NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "maintenance_window_services" (
	"maintenance_window_id" uuid NOT NULL,
	"service_id" uuid NOT NULL,
	CONSTRAINT "maintenance_window_services_maintenance_window_id_service_id_pk" PRIMARY KEY("maintenance_window_id","service_id")
);
--> statement-breakpoint
CREATE TABLE "maintenance_windows" (
	"id" uuid PRIMARY KEY NOT NULL,
	"organization_id" uuid NOT NULL,
	"title" text NOT NULL,
	"description" text DEFAULT '' NOT NULL,
	"status" "maintenance_status" DEFAULT 'scheduled' NOT NULL,
	"starts_at" timestamp (3) with time zone NOT NULL,
	"ends_at" timestamp (3) with time zone NOT NULL,
	"rrule" text,
	"auto_start" boolean DEFAULT true NOT NULL,
	"auto_complete" boolean DEFAULT true NOT NULL,
	"notify_before_minutes" integer,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp (3) with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "channels" (
	"id" uuid PRIMARY KEY NOT NULL,
	"organization_id" uuid NOT NULL,
	"type" "channel_type" NOT NULL,
	"name" text NOT NULL,
	"enabled" boolean DEFAULT true NOT NULL,
	"config" jsonb NOT NULL,
	"notify_on_incident" boolean DEFAULT true NOT NULL,
	"notify_on_maintenance" boolean DEFAULT true NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp (3) with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "idempotency_keys" (
	"organization_id" uuid NOT NULL,
	"api_key_id" uuid NOT NULL,
	"key" text NOT NULL,
	"request_hash" "bytea" NOT NULL,
	"locked_until" timestamp (3) with time zone NOT NULL,
	"status" integer,
	"body" jsonb,
	"created_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "idempotency_keys_organization_id_api_key_id_key_pk" PRIMARY KEY("organization_id","api_key_id","key")
);
--> statement-breakpoint
CREATE TABLE "design_versions" (
	"id" uuid PRIMARY KEY NOT NULL,
	"status_page_id" uuid NOT NULL,
	"version_number" integer NOT NULL,
	"state" "design_state" NOT NULL,
	"base_version_id" uuid,
	"theme_tokens" jsonb NOT NULL,
	"layout" jsonb NOT NULL,
	"template" jsonb,
	"template_mode" "template_mode" NOT NULL,
	"summary" text,
	"created_by" text NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL,
	"published_at" timestamp (3) with time zone
);
--> statement-breakpoint
CREATE TABLE "workflow_runs" (
	"id" uuid PRIMARY KEY NOT NULL,
	"workflow_id" uuid NOT NULL,
	"status" "workflow_run_status" DEFAULT 'queued' NOT NULL,
	"inputs" jsonb NOT NULL,
	"trace" jsonb DEFAULT '[]'::jsonb NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL,
	"finished_at" timestamp (3) with time zone
);
--> statement-breakpoint
CREATE TABLE "workflows" (
	"id" uuid PRIMARY KEY NOT NULL,
	"organization_id" uuid NOT NULL,
	"name" text NOT NULL,
	"enabled" boolean DEFAULT true NOT NULL,
	"trigger" jsonb NOT NULL,
	"steps" jsonb NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp (3) with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
DROP INDEX "audit_entries_organization";--> statement-breakpoint
ALTER TABLE "error_signatures" ADD COLUMN "resolved_at" timestamp (3) with time zone;--> statement-breakpoint
ALTER TABLE "error_signatures" ADD COLUMN "resolved_in_release" text;--> statement-breakpoint
ALTER TABLE "error_signatures" ADD COLUMN "ignore_until" timestamp (3) with time zone;--> statement-breakpoint
ALTER TABLE "error_signatures" ADD COLUMN "ignore_until_occurrences" bigint;--> statement-breakpoint
ALTER TABLE "metric_states" ADD COLUMN "level" "service_status";--> statement-breakpoint
ALTER TABLE "status_pages" ADD COLUMN "custom_domain" text;--> statement-breakpoint
ALTER TABLE "status_pages" ADD COLUMN "logo_url" text;--> statement-breakpoint
ALTER TABLE "status_pages" ADD COLUMN "primary_color" text DEFAULT '#2563eb' NOT NULL;--> statement-breakpoint
ALTER TABLE "status_pages" ADD COLUMN "secondary_color" text DEFAULT '#1e293b' NOT NULL;--> statement-breakpoint
ALTER TABLE "status_pages" ADD COLUMN "favicon_url" text;--> statement-breakpoint
ALTER TABLE "status_pages" ADD COLUMN "theme_mode" "theme_mode" DEFAULT 'system' NOT NULL;--> statement-breakpoint
ALTER TABLE "status_pages" ADD COLUMN "status_page_theme" "page_theme" DEFAULT 'classic' NOT NULL;--> statement-breakpoint
ALTER TABLE "status_pages" ADD COLUMN "custom_css" text;--> statement-breakpoint
ALTER TABLE "status_pages" ADD COLUMN "custom_header_html" text;--> statement-breakpoint
ALTER TABLE "status_pages" ADD COLUMN "custom_footer_html" text;--> statement-breakpoint
ALTER TABLE "status_pages" ADD COLUMN "hide_branding" boolean DEFAULT false NOT NULL;--> statement-breakpoint
ALTER TABLE "status_pages" ADD COLUMN "status_page_visibility" "page_visibility" DEFAULT 'public' NOT NULL;--> statement-breakpoint
ALTER TABLE "status_pages" ADD COLUMN "status_page_password_hash" text;--> statement-breakpoint
ALTER TABLE "status_pages" ADD COLUMN "status_page_password_hint" text;--> statement-breakpoint
ALTER TABLE "status_pages" ADD COLUMN "allowed_ips" text[];--> statement-breakpoint
ALTER TABLE "status_pages" ADD COLUMN "access_link_secret" "bytea" DEFAULT decode(replace(gen_random_uuid()::text || gen_random_uuid()::text, '-', ''), 'hex') NOT NULL;--> statement-breakpoint
ALTER TABLE "status_pages" ADD COLUMN "announcement_text" text;--> statement-breakpoint
ALTER TABLE "status_pages" ADD COLUMN "announcement_type" "announcement_type" DEFAULT 'info' NOT NULL;--> statement-breakpoint
ALTER TABLE "status_pages" ADD COLUMN "announcement_enabled" boolean DEFAULT false NOT NULL;--> statement-breakpoint
ALTER TABLE "status_pages" ADD COLUMN "status_page_language" text DEFAULT 'en' NOT NULL;--> statement-breakpoint
ALTER TABLE "status_pages" ADD COLUMN "font_family" "font_family" DEFAULT 'system' NOT NULL;--> statement-breakpoint
ALTER TABLE "status_pages" ADD COLUMN "show_subscribe_form" boolean DEFAULT true NOT NULL;--> statement-breakpoint
ALTER TABLE "status_pages" ADD COLUMN "show_incident_history" boolean DEFAULT true NOT NULL;--> statement-breakpoint
ALTER TABLE "status_pages" ADD COLUMN "show_uptime_graph" boolean DEFAULT true NOT NULL;--> statement-breakpoint
ALTER TABLE "status_pages" ADD COLUMN "header_style" "header_style" DEFAULT 'left' NOT NULL;--> statement-breakpoint
ALTER TABLE "status_pages" ADD COLUMN "border_radius" "border_radius" DEFAULT 'md' NOT NULL;--> statement-breakpoint
ALTER TABLE "status_pages" ADD COLUMN "custom_template" jsonb;--> statement-breakpoint
ALTER TABLE "status_pages" ADD COLUMN "current_version_id" uuid;--> statement-breakpoint
ALTER TABLE "status_pages" ADD COLUMN "draft_version_id" uuid;--> statement-breakpoint
ALTER TABLE "releases" ADD CONSTRAINT "releases_organization_id_organizations_id_fk" FOREIGN KEY ("organization_id") REFERENCES "public"."organizations"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "releases" ADD CONSTRAINT "releases_service_id_services_id_fk" FOREIGN KEY ("service_id") REFERENCES "public"."services"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "maintenance_updates" ADD CONSTRAINT "maintenance_updates_maintenance_window_id_maintenance_windows_id_fk" FOREIGN KEY ("maintenance_window_id") REFERENCES "public"."maintenance_windows"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "maintenance_window_services" ADD CONSTRAINT "maintenance_window_services_maintenance_window_id_maintenance_windows_id_fk" FOREIGN KEY ("maintenance_window_id") REFERENCES "public"."maintenance_windows"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "maintenance_window_services" ADD CONSTRAINT "maintenance_window_services_service_id_services_id_fk" FOREIGN KEY ("service_id") REFERENCES "public"."services"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "maintenance_windows" ADD CONSTRAINT "maintenance_windows_organization_id_organizations_id_fk" FOREIGN KEY ("organization_id") REFERENCES "public"."organizations"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "channels" ADD CONSTRAINT "channels_organization_id_organizations_id_fk" FOREIGN KEY ("organization_id") REFERENCES "public"."organizations"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "idempotency_keys" ADD CONSTRAINT "idempotency_keys_organization_id_organizations_id_fk" FOREIGN KEY ("organization_id") REFERENCES "public"."organizations"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "idempotency_keys" ADD CONSTRAINT "idempotency_keys_api_key_id_api_keys_id_fk" FOREIGN KEY ("api_key_id") REFERENCES "public"."api_keys"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "design_versions" ADD CONSTRAINT "design_versions_status_page_id_status_pages_id_fk" FOREIGN KEY ("status_page_id") REFERENCES "public"."status_pages"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "workflow_runs" ADD CONSTRAINT "workflow_runs_workflow_id_workflows_id_fk" FOREIGN KEY ("workflow_id") REFERENCES "public"."workflows"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "workflows" ADD CONSTRAINT "workflows_organization_id_organizations_id_fk" FOREIGN KEY ("organization_id") REFERENCES "public"."organizations"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE UNIQUE INDEX "releases_version" ON "releases" USING btree ("service_id","version");--> statement-breakpoint
CREATE INDEX "releases_organization" ON "releases" USING btree ("organization_id","created_at");--> statement-breakpoint
CREATE INDEX "maintenance_updates_window" ON "maintenance_updates" USING btree ("maintenance_window_id","created_at");--> statement-breakpoint
CREATE INDEX "maintenance_window_services_service" ON "maintenance_window_services" USING btree ("service_id");--> statement-breakpoint
CREATE INDEX "maintenance_windows_organization" ON "maintenance_windows" USING btree ("organization_id","starts_at");--> statement-breakpoint
CREATE INDEX "channels_organization" ON "channels" USING btree ("organization_id");--> statement-breakpoint
CREATE INDEX "idempotency_keys_created" ON "idempotency_keys" USING btree ("created_at");--> statement-breakpoint
CREATE UNIQUE INDEX "design_versions_number" ON "design_versions" USING btree ("status_page_id","version_number");--> statement-breakpoint
CREATE UNIQUE INDEX "design_versions_one_draft" ON "design_versions" USING btree ("status_page_id") WHERE state = 'draft';--> statement-breakpoint
CREATE UNIQUE INDEX "design_versions_one_published" ON "design_versions" USING btree ("status_page_id") WHERE state = 'published';--> statement-breakpoint
CREATE INDEX "workflow_runs_workflow" ON "workflow_runs" USING btree ("workflow_id","created_at");--> statement-breakpoint
CREATE INDEX "workflows_organization" ON "workflows" USING btree ("organization_id","created_at");--> statement-breakpoint
CREATE INDEX "error_signatures_release" ON "error_signatures" USING btree ("service_id","release");--> statement-breakpoint
CREATE INDEX "events_regressions" ON "events" USING btree ("organization_id",("data" ->> 'release')) WHERE type = 'error.regressed';--> statement-breakpoint
CREATE INDEX "audit_entries_organization" ON "audit_entries" USING btree ("organization_id","created_at","id");--> statement-breakpoint
ALTER TABLE "status_pages" ADD CONSTRAINT "status_pages_custom_domain_unique" UNIQUE("custom_domain");