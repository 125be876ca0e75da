-- Tenancy. Every row of a tenant names its organization, and the REST API's connections run as a role that sees only the
-- rows of the organization that `pharos.organization` names: a query that forgets its where clause finds nothing foreign.
-- Rows that hang on another row get its organization.
ALTER TABLE "incident_services" ADD COLUMN "organization_id" uuid;
--> statement-breakpoint
UPDATE "incident_services" AS child SET organization_id = parent.organization_id FROM "incidents" AS parent WHERE parent.id = child.incident_id;
--> statement-breakpoint
ALTER TABLE "incident_services" ALTER COLUMN "organization_id" SET NOT NULL;
--> statement-breakpoint
ALTER TABLE "incident_updates" ADD COLUMN "organization_id" uuid;
--> statement-breakpoint
UPDATE "incident_updates" AS child SET organization_id = parent.organization_id FROM "incidents" AS parent WHERE parent.id = child.incident_id;
--> statement-breakpoint
ALTER TABLE "incident_updates" ALTER COLUMN "organization_id" SET NOT NULL;
--> statement-breakpoint
ALTER TABLE "maintenance_updates" ADD COLUMN "organization_id" uuid;
--> statement-breakpoint
UPDATE "maintenance_updates" AS child SET organization_id = parent.organization_id FROM "maintenance_windows" AS parent WHERE parent.id = child.maintenance_window_id;
--> statement-breakpoint
ALTER TABLE "maintenance_updates" ALTER COLUMN "organization_id" SET NOT NULL;
--> statement-breakpoint
ALTER TABLE "maintenance_window_services" ADD COLUMN "organization_id" uuid;
--> statement-breakpoint
UPDATE "maintenance_window_services" AS child SET organization_id = parent.organization_id FROM "maintenance_windows" AS parent WHERE parent.id = child.maintenance_window_id;
--> statement-breakpoint
ALTER TABLE "maintenance_window_services" ALTER COLUMN "organization_id" SET NOT NULL;
--> statement-breakpoint
ALTER TABLE "webhook_deliveries" ADD COLUMN "organization_id" uuid;
--> statement-breakpoint
UPDATE "webhook_deliveries" AS child SET organization_id = parent.organization_id FROM "webhooks" AS parent WHERE parent.id = child.webhook_id;
--> statement-breakpoint
ALTER TABLE "webhook_deliveries" ALTER COLUMN "organization_id" SET NOT NULL;
--> statement-breakpoint
ALTER TABLE "service_opinions" ADD COLUMN "organization_id" uuid;
--> statement-breakpoint
UPDATE "service_opinions" AS child SET organization_id = parent.organization_id FROM "services" AS parent WHERE parent.id = child.service_id;
--> statement-breakpoint
ALTER TABLE "service_opinions" ALTER COLUMN "organization_id" SET NOT NULL;
--> statement-breakpoint
ALTER TABLE "service_status_history" ADD COLUMN "organization_id" uuid;
--> statement-breakpoint
UPDATE "service_status_history" AS child SET organization_id = parent.organization_id FROM "services" AS parent WHERE parent.id = child.service_id;
--> statement-breakpoint
ALTER TABLE "service_status_history" ALTER COLUMN "organization_id" SET NOT NULL;
--> statement-breakpoint
ALTER TABLE "design_versions" ADD COLUMN "organization_id" uuid;
--> statement-breakpoint
UPDATE "design_versions" AS child SET organization_id = parent.organization_id FROM "status_pages" AS parent WHERE parent.id = child.status_page_id;
--> statement-breakpoint
ALTER TABLE "design_versions" ALTER COLUMN "organization_id" SET NOT NULL;
--> statement-breakpoint
ALTER TABLE "status_page_services" ADD COLUMN "organization_id" uuid;
--> statement-breakpoint
UPDATE "status_page_services" AS child SET organization_id = parent.organization_id FROM "status_pages" AS parent WHERE parent.id = child.status_page_id;
--> statement-breakpoint
ALTER TABLE "status_page_services" ALTER COLUMN "organization_id" SET NOT NULL;
--> statement-breakpoint
ALTER TABLE "workflow_runs" ADD COLUMN "organization_id" uuid;
--> statement-breakpoint
UPDATE "workflow_runs" AS child SET organization_id = parent.organization_id FROM "workflows" AS parent WHERE parent.id = child.workflow_id;
--> statement-breakpoint
ALTER TABLE "workflow_runs" ALTER COLUMN "organization_id" SET NOT NULL;
--> statement-breakpoint
-- The role was made before the first migration: see platform/postgres/privileges.ts.
DO $$ BEGIN
  EXECUTE format('GRANT USAGE ON SCHEMA %I TO pharos_tenant', current_schema());
END $$;
--> statement-breakpoint
GRANT SELECT, INSERT, UPDATE, DELETE ON api_keys, beacon_keys, channels, design_versions, error_signatures, events, heartbeat_monitors, idempotency_keys, incident_services, incident_updates, incidents, maintenance_updates, maintenance_window_services, maintenance_windows, releases, service_opinions, service_status_history, services, status_page_services, status_pages, webhook_deliveries, webhooks, workflow_runs, workflows, metric_states TO pharos_tenant;
--> statement-breakpoint
-- The log of changes can only grow.
GRANT SELECT, INSERT ON audit_entries TO pharos_tenant;
--> statement-breakpoint
GRANT SELECT, UPDATE ON organizations TO pharos_tenant;
--> statement-breakpoint
-- Without a setting this fails instead of showing nothing; read once a statement when it stands in a sub-select.
CREATE FUNCTION pharos_organization() RETURNS uuid LANGUAGE sql STABLE PARALLEL SAFE AS $$ SELECT current_setting('pharos.organization')::uuid $$;
--> statement-breakpoint
ALTER TABLE api_keys ENABLE ROW LEVEL SECURITY;
--> statement-breakpoint
CREATE POLICY tenant ON api_keys TO pharos_tenant USING (organization_id = (SELECT pharos_organization()));
--> statement-breakpoint
ALTER TABLE audit_entries ENABLE ROW LEVEL SECURITY;
--> statement-breakpoint
CREATE POLICY tenant ON audit_entries TO pharos_tenant USING (organization_id = (SELECT pharos_organization()));
--> statement-breakpoint
ALTER TABLE beacon_keys ENABLE ROW LEVEL SECURITY;
--> statement-breakpoint
CREATE POLICY tenant ON beacon_keys TO pharos_tenant USING (organization_id = (SELECT pharos_organization()));
--> statement-breakpoint
ALTER TABLE channels ENABLE ROW LEVEL SECURITY;
--> statement-breakpoint
CREATE POLICY tenant ON channels TO pharos_tenant USING (organization_id = (SELECT pharos_organization()));
--> statement-breakpoint
ALTER TABLE design_versions ENABLE ROW LEVEL SECURITY;
--> statement-breakpoint
CREATE POLICY tenant ON design_versions TO pharos_tenant USING (organization_id = (SELECT pharos_organization()));
--> statement-breakpoint
ALTER TABLE error_signatures ENABLE ROW LEVEL SECURITY;
--> statement-breakpoint
CREATE POLICY tenant ON error_signatures TO pharos_tenant USING (organization_id = (SELECT pharos_organization()));
--> statement-breakpoint
ALTER TABLE events ENABLE ROW LEVEL SECURITY;
--> statement-breakpoint
CREATE POLICY tenant ON events TO pharos_tenant USING (organization_id = (SELECT pharos_organization()));
--> statement-breakpoint
ALTER TABLE heartbeat_monitors ENABLE ROW LEVEL SECURITY;
--> statement-breakpoint
CREATE POLICY tenant ON heartbeat_monitors TO pharos_tenant USING (organization_id = (SELECT pharos_organization()));
--> statement-breakpoint
ALTER TABLE idempotency_keys ENABLE ROW LEVEL SECURITY;
--> statement-breakpoint
CREATE POLICY tenant ON idempotency_keys TO pharos_tenant USING (organization_id = (SELECT pharos_organization()));
--> statement-breakpoint
ALTER TABLE incident_services ENABLE ROW LEVEL SECURITY;
--> statement-breakpoint
CREATE POLICY tenant ON incident_services TO pharos_tenant USING (organization_id = (SELECT pharos_organization()));
--> statement-breakpoint
ALTER TABLE incident_updates ENABLE ROW LEVEL SECURITY;
--> statement-breakpoint
CREATE POLICY tenant ON incident_updates TO pharos_tenant USING (organization_id = (SELECT pharos_organization()));
--> statement-breakpoint
ALTER TABLE incidents ENABLE ROW LEVEL SECURITY;
--> statement-breakpoint
CREATE POLICY tenant ON incidents TO pharos_tenant USING (organization_id = (SELECT pharos_organization()));
--> statement-breakpoint
ALTER TABLE maintenance_updates ENABLE ROW LEVEL SECURITY;
--> statement-breakpoint
CREATE POLICY tenant ON maintenance_updates TO pharos_tenant USING (organization_id = (SELECT pharos_organization()));
--> statement-breakpoint
ALTER TABLE maintenance_window_services ENABLE ROW LEVEL SECURITY;
--> statement-breakpoint
CREATE POLICY tenant ON maintenance_window_services TO pharos_tenant USING (organization_id = (SELECT pharos_organization()));
--> statement-breakpoint
ALTER TABLE maintenance_windows ENABLE ROW LEVEL SECURITY;
--> statement-breakpoint
CREATE POLICY tenant ON maintenance_windows TO pharos_tenant USING (organization_id = (SELECT pharos_organization()));
--> statement-breakpoint
ALTER TABLE releases ENABLE ROW LEVEL SECURITY;
--> statement-breakpoint
CREATE POLICY tenant ON releases TO pharos_tenant USING (organization_id = (SELECT pharos_organization()));
--> statement-breakpoint
ALTER TABLE service_opinions ENABLE ROW LEVEL SECURITY;
--> statement-breakpoint
CREATE POLICY tenant ON service_opinions TO pharos_tenant USING (organization_id = (SELECT pharos_organization()));
--> statement-breakpoint
ALTER TABLE service_status_history ENABLE ROW LEVEL SECURITY;
--> statement-breakpoint
CREATE POLICY tenant ON service_status_history TO pharos_tenant USING (organization_id = (SELECT pharos_organization()));
--> statement-breakpoint
ALTER TABLE services ENABLE ROW LEVEL SECURITY;
--> statement-breakpoint
CREATE POLICY tenant ON services TO pharos_tenant USING (organization_id = (SELECT pharos_organization()));
--> statement-breakpoint
ALTER TABLE status_page_services ENABLE ROW LEVEL SECURITY;
--> statement-breakpoint
CREATE POLICY tenant ON status_page_services TO pharos_tenant USING (organization_id = (SELECT pharos_organization()));
--> statement-breakpoint
ALTER TABLE status_pages ENABLE ROW LEVEL SECURITY;
--> statement-breakpoint
CREATE POLICY tenant ON status_pages TO pharos_tenant USING (organization_id = (SELECT pharos_organization()));
--> statement-breakpoint
ALTER TABLE webhook_deliveries ENABLE ROW LEVEL SECURITY;
--> statement-breakpoint
CREATE POLICY tenant ON webhook_deliveries TO pharos_tenant USING (organization_id = (SELECT pharos_organization()));
--> statement-breakpoint
ALTER TABLE webhooks ENABLE ROW LEVEL SECURITY;
--> statement-breakpoint
CREATE POLICY tenant ON webhooks TO pharos_tenant USING (organization_id = (SELECT pharos_organization()));
--> statement-breakpoint
ALTER TABLE workflow_runs ENABLE ROW LEVEL SECURITY;
--> statement-breakpoint
CREATE POLICY tenant ON workflow_runs TO pharos_tenant USING (organization_id = (SELECT pharos_organization()));
--> statement-breakpoint
ALTER TABLE workflows ENABLE ROW LEVEL SECURITY;
--> statement-breakpoint
CREATE POLICY tenant ON workflows TO pharos_tenant USING (organization_id = (SELECT pharos_organization()));
--> statement-breakpoint
ALTER TABLE organizations ENABLE ROW LEVEL SECURITY;
--> statement-breakpoint
CREATE POLICY tenant ON organizations TO pharos_tenant USING (id = (SELECT pharos_organization()));
--> statement-breakpoint
ALTER TABLE metric_states ENABLE ROW LEVEL SECURITY;
--> statement-breakpoint
CREATE POLICY tenant ON metric_states TO pharos_tenant USING (EXISTS (SELECT FROM services WHERE services.id = service_id));
--> statement-breakpoint
-- Writes to a table that belongs to no tenant.
ALTER FUNCTION pharos_note_removal() SECURITY DEFINER SET search_path FROM CURRENT;
--> statement-breakpoint
-- The one question that crosses organizations: an id of somebody else's service is refused in other words than an unknown one.
CREATE FUNCTION pharos_service_exists(wanted uuid) RETURNS boolean LANGUAGE sql STABLE SECURITY DEFINER SET search_path FROM CURRENT AS $$ SELECT EXISTS (SELECT FROM services WHERE id = wanted) $$;
