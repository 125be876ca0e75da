import type { NewEvent } from "../events/emit.ts";

interface EventSubject {
  id: string;
  organizationId: string;
  name: string;
}

/** `monitor.down` (specification §6); a heartbeat monitor has no URL. */
export function monitorDown({ id, organizationId, name }: EventSubject, error: string, at: Date): NewEvent {
  return { organizationId, type: "monitor.down", data: { id, name, url: null, error }, at };
}

export function monitorUp({ id, organizationId, name }: EventSubject, at: Date): NewEvent {
  return { organizationId, type: "monitor.up", data: { id, name, url: null }, at };
}

export function heartbeatMissed({ id, organizationId, name }: EventSubject, { lastPingAt, expectedAt }: { lastPingAt: Date | null; expectedAt: Date }, at: Date): NewEvent {
  const data = { id, name, last_ping_at: lastPingAt?.toISOString() ?? null, expected_at: expectedAt.toISOString() };
  return { organizationId, type: "heartbeat.missed", data, at };
}
