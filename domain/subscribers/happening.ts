import { eq } from "drizzle-orm";
import type { Queries } from "../../platform/postgres/database.ts";
import { events, incidents, incidentServices, maintenanceWindows, maintenanceWindowServices } from "../../schemas/tables/all.ts";
import type { EventType, IncidentSeverity, IncidentStatus } from "../../schemas/vocabulary.ts";

/** Which events subscribers are told of. */
export const TOLD_EVENTS = ["incident.created", "incident.updated", "incident.resolved", "maintenance.scheduled", "maintenance.started", "maintenance.completed"] as const satisfies readonly EventType[];
type ToldEvent = (typeof TOLD_EVENTS)[number];

/** An event as subscribers are told of it. */
export interface Happening {
  eventId: string;
  type: ToldEvent;
  at: Date;
  /** What travels to webhooks; the names of services are chosen page by page. */
  data: Record<string, unknown>;
  title: string;
  /** What somebody wrote about it; empty when nobody did. */
  message: string;
  incident: { status: IncidentStatus; severity: IncidentSeverity } | null;
  maintenance: { startsAt: Date; endsAt: Date; reminder: boolean } | null;
  /** Those that it is about now; none when it is about everything. */
  serviceIds: string[];
}

interface IncidentData {
  id: string;
  title: string;
  status: IncidentStatus;
  severity: IncidentSeverity;
  message: string;
  previous_status?: IncidentStatus;
}

interface MaintenanceData {
  id: string;
  title: string;
  description: string;
  starts_at: string;
  ends_at: string;
  message: string;
}

type EventRow = typeof events.$inferSelect;

/** Reads what there is to tell of an event. Null when it is nothing that subscribers are told, or was deleted meanwhile. */
export async function readHappening(queries: Queries, eventId: string): Promise<Happening | null> {
  const [event] = await queries.select().from(events).where(eq(events.id, eventId));
  if (!event) return null;
  return event.type.startsWith("incident.") ? ofIncident(queries, event) : ofMaintenance(queries, event);
}

async function ofIncident(queries: Queries, event: EventRow): Promise<Happening | null> {
  const { id, title, status, severity, message, previous_status: previous } = event.data as unknown as IncidentData;
  // A corrected title or another severity is on the page; nobody is woken for it.
  if (event.type === "incident.updated" && message === "" && previous === status) return null;
  const [incident] = await queries.select({ lost: incidents.lostServices }).from(incidents).where(eq(incidents.id, id));
  if (!incident) return null;
  const links = await queries.select({ id: incidentServices.serviceId }).from(incidentServices).where(eq(incidentServices.incidentId, id));
  // What was about services that are gone is not about everything.
  if (incident.lost && links.length === 0) return null;
  return { ...common(event), title, message, incident: { status, severity }, maintenance: null, serviceIds: links.map((link) => link.id) };
}

async function ofMaintenance(queries: Queries, event: EventRow): Promise<Happening | null> {
  const { id, title, description, starts_at: startsAt, ends_at: endsAt, message } = event.data as unknown as MaintenanceData;
  const [window] = await queries.select({ lost: maintenanceWindows.lostServices }).from(maintenanceWindows).where(eq(maintenanceWindows.id, id));
  if (!window) return null;
  const links = await queries.select({ id: maintenanceWindowServices.serviceId }).from(maintenanceWindowServices).where(eq(maintenanceWindowServices.maintenanceWindowId, id));
  if (window.lost && links.length === 0) return null;
  // A reminder's words are the service's own, in English; the times say the same in every language.
  const reminder = event.type === "maintenance.scheduled" && message !== "";
  return {
    ...common(event),
    title,
    message: reminder || message === "" ? (event.type === "maintenance.completed" ? "" : description) : message,
    incident: null,
    maintenance: { startsAt: new Date(startsAt), endsAt: new Date(endsAt), reminder },
    serviceIds: links.map((link) => link.id),
  };
}

function common({ id, type, createdAt, data }: EventRow): Pick<Happening, "eventId" | "type" | "at" | "data"> {
  return { eventId: id, type: type as ToldEvent, at: createdAt, data };
}
