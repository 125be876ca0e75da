import type { EventType } from "../../schemas/vocabulary.ts";
import type { NewEvent } from "../events/emit.ts";
import type { IncidentRow } from "./read.ts";

type IncidentEvent = Extract<EventType, `incident.${string}`>;

interface Happening {
  type: IncidentEvent;
  incident: IncidentRow;
  services: { name: string }[];
  /** The words that came with the change; empty when there were none. */
  message: string;
  previous?: IncidentRow["status"];
  at: Date;
}

/** The event of a change to an incident (specification §6, conventions §9). */
export function incidentEvent({ type, incident, services, message, previous, at }: Happening): NewEvent {
  const { id, organizationId, title, status, severity, startedAt, resolvedAt } = incident;
  return {
    organizationId,
    type,
    data: {
      id,
      title,
      status,
      severity,
      services: services.map(({ name }) => name),
      message,
      ...(previous !== undefined && { previous_status: previous }),
      ...(type === "incident.resolved" && resolvedAt && { resolved_at: resolvedAt.toISOString(), duration_seconds: Math.max(0, Math.floor((resolvedAt.getTime() - startedAt.getTime()) / 1000)) }),
    },
    at,
  };
}

/** An incident as the audit log keeps it; its updates are entries of their own. */
export function auditedIncident({ title, status, severity, resolvedAt }: IncidentRow, services: { id: string; name: string }[]): Record<string, unknown> {
  return { title, status, severity, resolved_at: resolvedAt?.toISOString() ?? null, services: services.map(({ id, name }) => ({ id, name })) };
}
