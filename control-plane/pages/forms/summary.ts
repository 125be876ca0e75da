import type { PublicIncident, PublicMaintenance, PublicPage, PublicService, PublicUpdate } from "../../../domain/status-pages/public-page.ts";
import type { PageSummary } from "../../../schemas/api/public-pages.ts";
import { SERVICE_STATUSES, type IncidentSeverity, type ServiceStatus } from "../../../schemas/vocabulary.ts";
import type { PageAddresses } from "../documents/addresses.ts";
import { maintenanceAddress } from "../documents/words.ts";

export const SUMMARY_TYPE = "application/json; charset=utf-8";

type Component = PageSummary["components"][number];

const COMPONENT_STATUS: Record<ServiceStatus, Component["status"]> = {
  operational: "operational",
  maintenance: "under_maintenance",
  degraded: "degraded_performance",
  partial_outage: "partial_outage",
  major_outage: "major_outage",
};

/** In Statuspage's words, which programs compare. */
const OVERALL: Record<ServiceStatus, PageSummary["status"]> = {
  operational: { indicator: "none", description: "All Systems Operational" },
  maintenance: { indicator: "maintenance", description: "Service Under Maintenance" },
  degraded: { indicator: "minor", description: "Partially Degraded Service" },
  partial_outage: { indicator: "major", description: "Partial System Outage" },
  major_outage: { indicator: "critical", description: "Major System Outage" },
};

/** What an open incident makes of its services at least, and so of a page's summary when it is about none in particular. */
const AT_LEAST: Record<IncidentSeverity, ServiceStatus> = { minor: "degraded", major: "partial_outage", critical: "major_outage" };

/** A page's state with the fields of Statuspage's `/api/v2/summary.json`; in English, because programs compare its words. Pure. */
export function makeSummary({ page, addresses }: { page: PublicPage; addresses: PageAddresses }): PageSummary {
  const components = page.services.map((service, at) => componentOf(service, at + 1, page.id));
  const severities = page.incidents.flatMap(({ status, severity }) => (status === "resolved" ? [] : [severity]));
  return {
    page: { id: page.id, name: page.name, url: addresses.home, time_zone: page.timezone, updated_at: page.updatedAt },
    components,
    incidents: page.incidents.flatMap((incident) => incidentOf(incident, page.id, components, addresses)),
    scheduled_maintenances: page.maintenance.flatMap((maintenance) => maintenanceOf(maintenance, page.id, components, addresses)),
    status: OVERALL[worst([page.overall ?? "operational", ...severities.map((severity) => AT_LEAST[severity])])],
  };
}

function componentOf({ id, name, status, createdAt, updatedAt, description }: PublicService, position: number, pageId: string): Component {
  return {
    id,
    name,
    status: COMPONENT_STATUS[status],
    created_at: createdAt,
    updated_at: updatedAt,
    position,
    description: description === "" ? null : description,
    showcase: true,
    start_date: createdAt.slice(0, "2026-01-31".length),
    group_id: null,
    page_id: pageId,
    group: false,
    only_show_if_degraded: false,
  };
}

/** None for one that is resolved. */
function incidentOf(incident: PublicIncident, pageId: string, components: Component[], addresses: PageAddresses): PageSummary["incidents"] {
  const { id, status, severity, startedAt, updates } = incident;
  if (status === "resolved") return [];
  const monitoring = updates.findLast((update) => update.status === "monitoring");
  return [
    {
      ...happeningOf(incident, pageId, components),
      status,
      impact: severity,
      shortlink: addresses.incident(id),
      started_at: startedAt,
      monitoring_at: monitoring?.createdAt ?? null,
      incident_updates: updates.map((update) => updateOf(update, id)),
    },
  ];
}

/** None for one that is over. */
function maintenanceOf(maintenance: PublicMaintenance, pageId: string, components: Component[], addresses: PageAddresses): PageSummary["scheduled_maintenances"] {
  const { id, status, createdAt, startsAt, endsAt, updates } = maintenance;
  if (status === "completed" || status === "cancelled") return [];
  return [
    {
      ...happeningOf(maintenance, pageId, components),
      status,
      impact: "maintenance",
      shortlink: maintenanceAddress(addresses, id),
      started_at: createdAt,
      monitoring_at: null,
      incident_updates: updates.map((update) => updateOf(update, id)),
      scheduled_for: startsAt,
      scheduled_until: endsAt,
    },
  ];
}

function happeningOf({ id, title, createdAt, updatedAt, services }: PublicIncident | PublicMaintenance, pageId: string, components: Component[]) {
  const affected = new Set(services.map((service) => service.id));
  return {
    id,
    name: title,
    created_at: createdAt,
    updated_at: updatedAt,
    resolved_at: null,
    page_id: pageId,
    components: components.filter((component) => affected.has(component.id)),
    reminder_intervals: null,
  };
}

function updateOf<Status>({ id, status, message, createdAt }: PublicUpdate<Status>, incidentId: string) {
  return {
    id,
    status,
    body: message,
    incident_id: incidentId,
    created_at: createdAt,
    updated_at: createdAt,
    display_at: createdAt,
    affected_components: null,
    deliver_notifications: true,
    custom_tweet: null,
    tweet_id: null,
  } as const;
}

function worst(statuses: ServiceStatus[]): ServiceStatus {
  return SERVICE_STATUSES[Math.max(...statuses.map((status) => SERVICE_STATUSES.indexOf(status)))]!;
}
