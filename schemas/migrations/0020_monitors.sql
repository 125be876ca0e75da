CREATE TYPE "public"."expiry_status" AS ENUM('ok', 'warning', 'critical', 'error');--> statement-breakpoint
CREATE TYPE "public"."lookup_method" AS ENUM('auto', 'rdap', 'whois');--> statement-breakpoint
CREATE TYPE "public"."monitor_kind" AS ENUM('uptime', 'ssl', 'domain');--> statement-breakpoint
CREATE TYPE "public"."uptime_status" AS ENUM('pending', 'up', 'down', 'degraded', 'paused', 'maintenance');--> statement-breakpoint
CREATE TABLE "check_results" (
	"id" uuid PRIMARY KEY NOT NULL,
	"organization_id" uuid NOT NULL,
	"kind" "monitor_kind" NOT NULL,
	"monitor_id" uuid NOT NULL,
	"checked_at" timestamp (3) with time zone NOT NULL,
	"result" jsonb NOT NULL,
	"batch" uuid
);
--> statement-breakpoint
CREATE TABLE "domain_monitors" (
	"id" uuid PRIMARY KEY NOT NULL,
	"organization_id" uuid NOT NULL,
	"service_id" uuid,
	"enabled" boolean DEFAULT true NOT NULL,
	"notification_channels" uuid[] DEFAULT '{}' NOT NULL,
	"last_checked_at" timestamp (3) with time zone,
	"due_at" timestamp (3) with time zone NOT NULL,
	"lease_token" uuid,
	"created_at" timestamp (3) with time zone NOT NULL,
	"updated_at" timestamp (3) with time zone NOT NULL,
	"domain" text NOT NULL,
	"alert_days" integer NOT NULL,
	"status" "expiry_status",
	"last_error" text,
	"days_until_expiry" integer,
	"told" text,
	"lookup_method" "lookup_method" NOT NULL,
	"registration" jsonb
);
--> statement-breakpoint
CREATE TABLE "ssl_monitors" (
	"id" uuid PRIMARY KEY NOT NULL,
	"organization_id" uuid NOT NULL,
	"service_id" uuid,
	"enabled" boolean DEFAULT true NOT NULL,
	"notification_channels" uuid[] DEFAULT '{}' NOT NULL,
	"last_checked_at" timestamp (3) with time zone,
	"due_at" timestamp (3) with time zone NOT NULL,
	"lease_token" uuid,
	"created_at" timestamp (3) with time zone NOT NULL,
	"updated_at" timestamp (3) with time zone NOT NULL,
	"domain" text NOT NULL,
	"alert_days" integer NOT NULL,
	"status" "expiry_status",
	"last_error" text,
	"days_until_expiry" integer,
	"told" text,
	"port" integer NOT NULL,
	"certificate" jsonb
);
--> statement-breakpoint
CREATE TABLE "uptime_monitors" (
	"id" uuid PRIMARY KEY NOT NULL,
	"organization_id" uuid NOT NULL,
	"service_id" uuid,
	"enabled" boolean DEFAULT true NOT NULL,
	"notification_channels" uuid[] DEFAULT '{}' NOT NULL,
	"last_checked_at" timestamp (3) with time zone,
	"due_at" timestamp (3) with time zone NOT NULL,
	"lease_token" uuid,
	"created_at" timestamp (3) with time zone NOT NULL,
	"updated_at" timestamp (3) with time zone NOT NULL,
	"name" text NOT NULL,
	"url" text NOT NULL,
	"method" text NOT NULL,
	"headers" jsonb NOT NULL,
	"body" text,
	"interval_seconds" integer NOT NULL,
	"timeout_ms" integer NOT NULL,
	"expected_status_codes" integer[] NOT NULL,
	"required_keyword" text,
	"follow_redirects" boolean NOT NULL,
	"verify_ssl" boolean NOT NULL,
	"failures_to_down" integer NOT NULL,
	"successes_to_up" integer NOT NULL,
	"degraded_after_ms" integer,
	"create_incident" boolean NOT NULL,
	"incident_id" uuid,
	"status" "uptime_status" NOT NULL,
	"contrary" integer DEFAULT 0 NOT NULL,
	"last_response_time_ms" integer,
	"last_status_code" integer,
	"last_error" text
);
--> statement-breakpoint
ALTER TABLE "domain_monitors" ADD CONSTRAINT "domain_monitors_organization_id_organizations_id_fk" FOREIGN KEY ("organization_id") REFERENCES "public"."organizations"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "domain_monitors" ADD CONSTRAINT "domain_monitors_service_id_services_id_fk" FOREIGN KEY ("service_id") REFERENCES "public"."services"("id") ON DELETE set null ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "ssl_monitors" ADD CONSTRAINT "ssl_monitors_organization_id_organizations_id_fk" FOREIGN KEY ("organization_id") REFERENCES "public"."organizations"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "ssl_monitors" ADD CONSTRAINT "ssl_monitors_service_id_services_id_fk" FOREIGN KEY ("service_id") REFERENCES "public"."services"("id") ON DELETE set null ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "uptime_monitors" ADD CONSTRAINT "uptime_monitors_organization_id_organizations_id_fk" FOREIGN KEY ("organization_id") REFERENCES "public"."organizations"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "uptime_monitors" ADD CONSTRAINT "uptime_monitors_service_id_services_id_fk" FOREIGN KEY ("service_id") REFERENCES "public"."services"("id") ON DELETE set null ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "check_results_batch" ON "check_results" USING btree ("batch");--> statement-breakpoint
CREATE INDEX "domain_monitors_organization" ON "domain_monitors" USING btree ("organization_id","created_at");--> statement-breakpoint
CREATE INDEX "domain_monitors_service" ON "domain_monitors" USING btree ("service_id");--> statement-breakpoint
CREATE INDEX "domain_monitors_due" ON "domain_monitors" USING btree ("due_at") WHERE enabled;--> statement-breakpoint
CREATE INDEX "ssl_monitors_organization" ON "ssl_monitors" USING btree ("organization_id","created_at");--> statement-breakpoint
CREATE INDEX "ssl_monitors_service" ON "ssl_monitors" USING btree ("service_id");--> statement-breakpoint
CREATE INDEX "ssl_monitors_due" ON "ssl_monitors" USING btree ("due_at") WHERE enabled;--> statement-breakpoint
CREATE INDEX "uptime_monitors_organization" ON "uptime_monitors" USING btree ("organization_id","created_at");--> statement-breakpoint
CREATE INDEX "uptime_monitors_service" ON "uptime_monitors" USING btree ("service_id");--> statement-breakpoint
CREATE INDEX "uptime_monitors_due" ON "uptime_monitors" USING btree ("due_at") WHERE enabled;--> statement-breakpoint
GRANT SELECT, INSERT, UPDATE, DELETE ON uptime_monitors, ssl_monitors, domain_monitors TO pharos_tenant;
--> statement-breakpoint
GRANT SELECT, INSERT, DELETE ON check_results TO pharos_tenant;
--> statement-breakpoint
ALTER TABLE uptime_monitors ENABLE ROW LEVEL SECURITY;
--> statement-breakpoint
CREATE POLICY tenant ON uptime_monitors TO pharos_tenant USING (organization_id = (SELECT pharos_organization()));
--> statement-breakpoint
ALTER TABLE ssl_monitors ENABLE ROW LEVEL SECURITY;
--> statement-breakpoint
CREATE POLICY tenant ON ssl_monitors TO pharos_tenant USING (organization_id = (SELECT pharos_organization()));
--> statement-breakpoint
ALTER TABLE domain_monitors ENABLE ROW LEVEL SECURITY;
--> statement-breakpoint
CREATE POLICY tenant ON domain_monitors TO pharos_tenant USING (organization_id = (SELECT pharos_organization()));
--> statement-breakpoint
ALTER TABLE check_results ENABLE ROW LEVEL SECURITY;
--> statement-breakpoint
CREATE POLICY tenant ON check_results TO pharos_tenant USING (organization_id = (SELECT pharos_organization()));
