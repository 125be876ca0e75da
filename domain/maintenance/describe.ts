import type { EventType } from "../../schemas/vocabulary.ts";
import type { NewEvent } from "../events/emit.ts";
import type { WindowRow } from "./read.ts";

interface Happening {
  type: Extract<EventType, `maintenance.${string}`>;
  window: WindowRow;
  services: { name: string }[];
  /** The words that came with the change; empty when there were none. */
  message: string;
  at: Date;
}

/** The event of a maintenance window's step. */
export function maintenanceEvent({ type, window, services, message, at }: Happening): NewEvent {
  const { id, organizationId, title, description, status, startsAt, endsAt } = window;
  return {
    organizationId,
    type,
    data: { id, title, description, status, starts_at: startsAt.toISOString(), ends_at: endsAt.toISOString(), services: services.map(({ name }) => name), message },
    at,
  };
}

/** A window as the audit log keeps it; its updates are entries of their own. */
export function auditedWindow(row: WindowRow, services: { id: string; name: string }[]): Record<string, unknown> {
  return {
    title: row.title,
    description: row.description,
    status: row.status,
    starts_at: row.startsAt.toISOString(),
    ends_at: row.endsAt.toISOString(),
    rrule: row.rrule,
    auto_start: row.autoStart,
    auto_complete: row.autoComplete,
    notify_before_minutes: row.notifyBeforeMinutes,
    services: services.map(({ id, name }) => ({ id, name })),
  };
}
