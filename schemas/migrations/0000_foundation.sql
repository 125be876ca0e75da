CREATE TYPE "public"."error_category" AS ENUM('javascript', 'promise', 'network', 'resource', 'chunk_load', 'security', 'message');--> statement-breakpoint
CREATE TYPE "public"."error_status" AS ENUM('new', 'resolved', 'regressed', 'ignored');--> statement-breakpoint
CREATE TYPE "public"."priority" AS ENUM('critical', 'high', 'medium', 'low');--> statement-breakpoint
CREATE TYPE "public"."heartbeat_status" AS ENUM('new', 'up', 'grace', 'down', 'paused');--> statement-breakpoint
CREATE TYPE "public"."schedule_type" AS ENUM('interval', 'cron');--> statement-breakpoint
CREATE TYPE "public"."incident_severity" AS ENUM('minor', 'major', 'critical');--> statement-breakpoint
CREATE TYPE "public"."incident_status" AS ENUM('investigating', 'identified', 'monitoring', 'resolved');--> statement-breakpoint
CREATE TYPE "public"."delivery_status" AS ENUM('pending', 'delivered', 'failed', 'abandoned');--> statement-breakpoint
CREATE TYPE "public"."delivery_trigger" AS ENUM('event', 'test', 'redeliver');--> statement-breakpoint
CREATE TYPE "public"."disabled_reason" AS ENUM('retries_exhausted', 'gone', 'manual');--> statement-breakpoint
CREATE TYPE "public"."event_type" AS ENUM('incident.created', 'incident.updated', 'incident.resolved', 'incident.deleted', 'service.status_changed', 'monitor.down', 'monitor.up', 'heartbeat.missed', 'ssl.expiring', 'domain.expiring', 'error.new', 'error.regressed', 'maintenance.scheduled', 'maintenance.started', 'maintenance.completed', 'webhook.test');--> statement-breakpoint
CREATE TYPE "public"."plan" AS ENUM('free', 'pro', 'team');--> statement-breakpoint
CREATE TYPE "public"."opinion_source" AS ENUM('manual', 'incidents', 'maintenance', 'monitors', 'metrics');--> statement-breakpoint
CREATE TYPE "public"."service_status" AS ENUM('operational', 'maintenance', 'degraded', 'partial_outage', 'major_outage');--> statement-breakpoint
CREATE TABLE "beacon_keys" (
	"id" uuid PRIMARY KEY NOT NULL,
	"organization_id" uuid NOT NULL,
	"service_id" uuid NOT NULL,
	"name" text NOT NULL,
	"key" text NOT NULL,
	"allowed_origins" text[],
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"changed_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"deleted_at" timestamp (3) with time zone,
	CONSTRAINT "beacon_keys_key_unique" UNIQUE("key")
);
--> statement-breakpoint
CREATE TABLE "error_signatures" (
	"id" uuid PRIMARY KEY NOT NULL,
	"organization_id" uuid NOT NULL,
	"service_id" uuid NOT NULL,
	"grouping_version" text NOT NULL,
	"fingerprint" text NOT NULL,
	"type" text NOT NULL,
	"message" text NOT NULL,
	"culprit" text,
	"status" "error_status" DEFAULT 'new' NOT NULL,
	"category" "error_category" NOT NULL,
	"priority" "priority" NOT NULL,
	"handled" boolean NOT NULL,
	"occurrences" bigint NOT NULL,
	"first_seen" timestamp (3) with time zone NOT NULL,
	"last_seen" timestamp (3) with time zone NOT NULL,
	"release" text NOT NULL,
	"environment" text NOT NULL,
	"stack_trace" text NOT NULL,
	"frames" jsonb NOT NULL,
	"grouping_parts" jsonb NOT NULL
);
--> statement-breakpoint
CREATE TABLE "heartbeat_monitors" (
	"id" uuid PRIMARY KEY NOT NULL,
	"organization_id" uuid NOT NULL,
	"service_id" uuid,
	"name" text NOT NULL,
	"slug" text NOT NULL,
	"schedule_type" "schedule_type" NOT NULL,
	"interval_seconds" integer,
	"cron" text,
	"timezone" text DEFAULT 'UTC' NOT NULL,
	"grace_seconds" integer NOT NULL,
	"max_runtime_seconds" integer,
	"status" "heartbeat_status" DEFAULT 'new' NOT NULL,
	"last_ping_at" timestamp (3) with time zone,
	"last_start_at" timestamp (3) with time zone,
	"next_expected_at" timestamp (3) with time zone,
	"last_duration_ms" integer,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"changed_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"deleted_at" timestamp (3) with time zone
);
--> statement-breakpoint
CREATE TABLE "incident_services" (
	"incident_id" uuid NOT NULL,
	"service_id" uuid NOT NULL,
	CONSTRAINT "incident_services_incident_id_service_id_pk" PRIMARY KEY("incident_id","service_id")
);
--> statement-breakpoint
CREATE TABLE "incident_updates" (
	"id" uuid PRIMARY KEY NOT NULL,
	"incident_id" uuid NOT NULL,
	"status" "incident_status" NOT NULL,
	"message" text NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "incidents" (
	"id" uuid PRIMARY KEY NOT NULL,
	"organization_id" uuid NOT NULL,
	"title" text NOT NULL,
	"status" "incident_status" NOT NULL,
	"severity" "incident_severity" NOT NULL,
	"opened_by" text,
	"started_at" timestamp (3) with time zone NOT NULL,
	"resolved_at" timestamp (3) with time zone,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp (3) with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "events" (
	"id" uuid PRIMARY KEY NOT NULL,
	"organization_id" uuid NOT NULL,
	"type" "event_type" NOT NULL,
	"data" jsonb NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL,
	"fanned_out_at" timestamp (3) with time zone
);
--> statement-breakpoint
CREATE TABLE "webhook_deliveries" (
	"id" uuid PRIMARY KEY NOT NULL,
	"webhook_id" uuid NOT NULL,
	"event_id" uuid NOT NULL,
	"attempt" integer NOT NULL,
	"trigger" "delivery_trigger" NOT NULL,
	"status" "delivery_status" DEFAULT 'pending' NOT NULL,
	"due_at" timestamp (3) with time zone NOT NULL,
	"lease_token" uuid,
	"response_status_code" integer,
	"response_body" text,
	"duration_ms" integer,
	"error" text,
	"next_retry_at" timestamp (3) with time zone,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "webhooks" (
	"id" uuid PRIMARY KEY NOT NULL,
	"organization_id" uuid NOT NULL,
	"name" text NOT NULL,
	"url" text NOT NULL,
	"signing_secret" text NOT NULL,
	"is_active" boolean DEFAULT true NOT NULL,
	"events" text[] NOT NULL,
	"headers" jsonb DEFAULT '{}'::jsonb NOT NULL,
	"disabled_at" timestamp (3) with time zone,
	"disabled_reason" "disabled_reason",
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp (3) with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "api_keys" (
	"id" uuid PRIMARY KEY NOT NULL,
	"organization_id" uuid NOT NULL,
	"name" text NOT NULL,
	"prefix" text NOT NULL,
	"hash" "bytea" NOT NULL,
	"scopes" text[] NOT NULL,
	"expires_at" timestamp (3) with time zone,
	"revoked_at" timestamp (3) with time zone,
	"last_used_at" timestamp (3) with time zone,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"changed_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "api_keys_hash_unique" UNIQUE("hash")
);
--> statement-breakpoint
CREATE TABLE "audit_entries" (
	"id" uuid PRIMARY KEY NOT NULL,
	"organization_id" uuid NOT NULL,
	"actor_type" text NOT NULL,
	"actor_id" uuid,
	"actor_name" text NOT NULL,
	"action" text NOT NULL,
	"resource_type" text NOT NULL,
	"resource_id" uuid NOT NULL,
	"changed_fields" text[] NOT NULL,
	"before" jsonb,
	"after" jsonb,
	"ip" "inet",
	"user_agent" text,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "organizations" (
	"id" uuid PRIMARY KEY NOT NULL,
	"name" text NOT NULL,
	"plan" "plan" NOT NULL,
	"owner_email" text,
	"timezone" text DEFAULT 'UTC' NOT NULL,
	"language" text DEFAULT 'en' NOT NULL,
	"default_thresholds" jsonb,
	"retention_days" integer DEFAULT 90 NOT NULL,
	"is_demo" boolean DEFAULT false NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp (3) with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "cursors" (
	"consumer_group" text NOT NULL,
	"log_id" text NOT NULL,
	"topic" text NOT NULL,
	"partition" integer NOT NULL,
	"next_offset" bigint NOT NULL,
	"range_last" bigint,
	"range_token" text,
	"epoch" bigint NOT NULL,
	"caught_up_to" timestamp (3) with time zone,
	"updated_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "cursors_consumer_group_log_id_topic_partition_pk" PRIMARY KEY("consumer_group","log_id","topic","partition")
);
--> statement-breakpoint
CREATE TABLE "edges" (
	"id" uuid PRIMARY KEY NOT NULL,
	"oldest_unsent_at" timestamp (3) with time zone,
	"seen_at" timestamp (3) with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "frame_sequences" (
	"consumer_group" text NOT NULL,
	"log_id" text NOT NULL,
	"topic" text NOT NULL,
	"partition" integer NOT NULL,
	"edge_id" uuid NOT NULL,
	"last_sequence" bigint NOT NULL,
	"updated_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "frame_sequences_consumer_group_log_id_topic_partition_edge_id_pk" PRIMARY KEY("consumer_group","log_id","topic","partition","edge_id")
);
--> statement-breakpoint
CREATE TABLE "log_gaps" (
	"id" uuid PRIMARY KEY NOT NULL,
	"consumer_group" text NOT NULL,
	"log_id" text NOT NULL,
	"topic" text NOT NULL,
	"partition" integer NOT NULL,
	"from_offset" bigint NOT NULL,
	"to_offset" bigint NOT NULL,
	"found_at" timestamp (3) with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "removals" (
	"id" uuid PRIMARY KEY NOT NULL,
	"removed_at" timestamp (3) with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "metric_states" (
	"service_id" uuid PRIMARY KEY NOT NULL,
	"breaches" integer NOT NULL,
	"clears" integer NOT NULL,
	"updated_at" timestamp (3) with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "service_opinions" (
	"service_id" uuid NOT NULL,
	"source" "opinion_source" NOT NULL,
	"status" "service_status" NOT NULL,
	"reason" text NOT NULL,
	"updated_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "service_opinions_service_id_source_pk" PRIMARY KEY("service_id","source")
);
--> statement-breakpoint
CREATE TABLE "service_status_history" (
	"id" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "service_status_history_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"service_id" uuid NOT NULL,
	"status" "service_status" NOT NULL,
	"source" "opinion_source" NOT NULL,
	"reason" text NOT NULL,
	"changed_at" timestamp (3) with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "services" (
	"id" uuid PRIMARY KEY NOT NULL,
	"organization_id" uuid NOT NULL,
	"name" text NOT NULL,
	"description" text DEFAULT '' NOT NULL,
	"status" "service_status" DEFAULT 'operational' NOT NULL,
	"status_source" "opinion_source" DEFAULT 'manual' NOT NULL,
	"display_order" integer DEFAULT 0 NOT NULL,
	"thresholds" jsonb,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp (3) with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "status_page_services" (
	"status_page_id" uuid NOT NULL,
	"service_id" uuid NOT NULL,
	"display_order" integer NOT NULL,
	CONSTRAINT "status_page_services_status_page_id_service_id_pk" PRIMARY KEY("status_page_id","service_id")
);
--> statement-breakpoint
CREATE TABLE "status_pages" (
	"id" uuid PRIMARY KEY NOT NULL,
	"organization_id" uuid NOT NULL,
	"name" text NOT NULL,
	"slug" text NOT NULL,
	"tagline" text,
	"is_default" boolean DEFAULT false NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "status_pages_slug_unique" UNIQUE("slug")
);
--> statement-breakpoint
ALTER TABLE "beacon_keys" ADD CONSTRAINT "beacon_keys_organization_id_organizations_id_fk" FOREIGN KEY ("organization_id") REFERENCES "public"."organizations"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "beacon_keys" ADD CONSTRAINT "beacon_keys_service_id_services_id_fk" FOREIGN KEY ("service_id") REFERENCES "public"."services"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "error_signatures" ADD CONSTRAINT "error_signatures_organization_id_organizations_id_fk" FOREIGN KEY ("organization_id") REFERENCES "public"."organizations"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "error_signatures" ADD CONSTRAINT "error_signatures_service_id_services_id_fk" FOREIGN KEY ("service_id") REFERENCES "public"."services"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "heartbeat_monitors" ADD CONSTRAINT "heartbeat_monitors_organization_id_organizations_id_fk" FOREIGN KEY ("organization_id") REFERENCES "public"."organizations"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "heartbeat_monitors" ADD CONSTRAINT "heartbeat_monitors_service_id_services_id_fk" FOREIGN KEY ("service_id") REFERENCES "public"."services"("id") ON DELETE set null ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "incident_services" ADD CONSTRAINT "incident_services_incident_id_incidents_id_fk" FOREIGN KEY ("incident_id") REFERENCES "public"."incidents"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "incident_services" ADD CONSTRAINT "incident_services_service_id_services_id_fk" FOREIGN KEY ("service_id") REFERENCES "public"."services"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "incident_updates" ADD CONSTRAINT "incident_updates_incident_id_incidents_id_fk" FOREIGN KEY ("incident_id") REFERENCES "public"."incidents"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "incidents" ADD CONSTRAINT "incidents_organization_id_organizations_id_fk" FOREIGN KEY ("organization_id") REFERENCES "public"."organizations"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "events" ADD CONSTRAINT "events_organization_id_organizations_id_fk" FOREIGN KEY ("organization_id") REFERENCES "public"."organizations"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "webhook_deliveries" ADD CONSTRAINT "webhook_deliveries_webhook_id_webhooks_id_fk" FOREIGN KEY ("webhook_id") REFERENCES "public"."webhooks"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "webhook_deliveries" ADD CONSTRAINT "webhook_deliveries_event_id_events_id_fk" FOREIGN KEY ("event_id") REFERENCES "public"."events"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "webhooks" ADD CONSTRAINT "webhooks_organization_id_organizations_id_fk" FOREIGN KEY ("organization_id") REFERENCES "public"."organizations"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "api_keys" ADD CONSTRAINT "api_keys_organization_id_organizations_id_fk" FOREIGN KEY ("organization_id") REFERENCES "public"."organizations"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "audit_entries" ADD CONSTRAINT "audit_entries_organization_id_organizations_id_fk" FOREIGN KEY ("organization_id") REFERENCES "public"."organizations"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "metric_states" ADD CONSTRAINT "metric_states_service_id_services_id_fk" FOREIGN KEY ("service_id") REFERENCES "public"."services"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "service_opinions" ADD CONSTRAINT "service_opinions_service_id_services_id_fk" FOREIGN KEY ("service_id") REFERENCES "public"."services"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "service_status_history" ADD CONSTRAINT "service_status_history_service_id_services_id_fk" FOREIGN KEY ("service_id") REFERENCES "public"."services"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "services" ADD CONSTRAINT "services_organization_id_organizations_id_fk" FOREIGN KEY ("organization_id") REFERENCES "public"."organizations"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "status_page_services" ADD CONSTRAINT "status_page_services_status_page_id_status_pages_id_fk" FOREIGN KEY ("status_page_id") REFERENCES "public"."status_pages"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "status_page_services" ADD CONSTRAINT "status_page_services_service_id_services_id_fk" FOREIGN KEY ("service_id") REFERENCES "public"."services"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "status_pages" ADD CONSTRAINT "status_pages_organization_id_organizations_id_fk" FOREIGN KEY ("organization_id") REFERENCES "public"."organizations"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "beacon_keys_organization" ON "beacon_keys" USING btree ("organization_id");--> statement-breakpoint
CREATE INDEX "beacon_keys_changed" ON "beacon_keys" USING btree ("changed_at");--> statement-breakpoint
CREATE UNIQUE INDEX "error_signatures_fingerprint" ON "error_signatures" USING btree ("service_id","grouping_version","fingerprint");--> statement-breakpoint
CREATE INDEX "error_signatures_last_seen" ON "error_signatures" USING btree ("organization_id","last_seen");--> statement-breakpoint
CREATE INDEX "error_signatures_first_seen" ON "error_signatures" USING btree ("organization_id","first_seen");--> statement-breakpoint
CREATE INDEX "heartbeat_monitors_organization" ON "heartbeat_monitors" USING btree ("organization_id");--> statement-breakpoint
CREATE UNIQUE INDEX "heartbeat_monitors_slug" ON "heartbeat_monitors" USING btree ("organization_id","slug") WHERE deleted_at is null;--> statement-breakpoint
CREATE INDEX "heartbeat_monitors_due" ON "heartbeat_monitors" USING btree ("next_expected_at") WHERE status in ('up', 'grace') and deleted_at is null;--> statement-breakpoint
CREATE INDEX "heartbeat_monitors_running" ON "heartbeat_monitors" USING btree ("last_start_at") WHERE last_start_at is not null and max_runtime_seconds is not null and deleted_at is null;--> statement-breakpoint
CREATE INDEX "heartbeat_monitors_changed" ON "heartbeat_monitors" USING btree ("changed_at");--> statement-breakpoint
CREATE INDEX "heartbeat_monitors_service" ON "heartbeat_monitors" USING btree ("service_id");--> statement-breakpoint
CREATE INDEX "incident_services_service" ON "incident_services" USING btree ("service_id");--> statement-breakpoint
CREATE INDEX "incident_updates_incident" ON "incident_updates" USING btree ("incident_id","created_at");--> statement-breakpoint
CREATE INDEX "incidents_organization" ON "incidents" USING btree ("organization_id","created_at");--> statement-breakpoint
CREATE UNIQUE INDEX "incidents_one_open_per_automatism" ON "incidents" USING btree ("opened_by") WHERE opened_by is not null and status <> 'resolved';--> statement-breakpoint
CREATE INDEX "events_to_fan_out" ON "events" USING btree ("created_at") WHERE fanned_out_at is null;--> statement-breakpoint
CREATE INDEX "webhook_deliveries_due" ON "webhook_deliveries" USING btree ("due_at") WHERE status = 'pending';--> statement-breakpoint
CREATE INDEX "webhook_deliveries_webhook" ON "webhook_deliveries" USING btree ("webhook_id","created_at");--> statement-breakpoint
CREATE INDEX "webhooks_organization" ON "webhooks" USING btree ("organization_id");--> statement-breakpoint
CREATE INDEX "api_keys_organization" ON "api_keys" USING btree ("organization_id");--> statement-breakpoint
CREATE INDEX "api_keys_changed" ON "api_keys" USING btree ("changed_at");--> statement-breakpoint
CREATE INDEX "audit_entries_organization" ON "audit_entries" USING btree ("organization_id","created_at");--> statement-breakpoint
CREATE INDEX "edges_seen" ON "edges" USING btree ("seen_at");--> statement-breakpoint
CREATE INDEX "removals_removed" ON "removals" USING btree ("removed_at");--> statement-breakpoint
CREATE INDEX "service_status_history_service" ON "service_status_history" USING btree ("service_id","changed_at");--> statement-breakpoint
CREATE INDEX "services_organization" ON "services" USING btree ("organization_id","display_order");--> statement-breakpoint
CREATE INDEX "status_pages_organization" ON "status_pages" USING btree ("organization_id");--> statement-breakpoint
CREATE UNIQUE INDEX "status_pages_one_default" ON "status_pages" USING btree ("organization_id") WHERE is_default;