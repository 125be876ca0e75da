import { and, asc, isNull, sql } from "drizzle-orm";
import type { Transaction } from "../../platform/postgres/database.ts";
import type { Ping } from "../../schemas/messages/ping.ts";
import { heartbeatMonitors } from "../../schemas/tables/all.ts";
import { emitEvents, type NewEvent } from "../events/emit.ts";
import { decidePing, type PingState } from "./decide-ping.ts";
import { monitorDown, monitorUp } from "./monitor-events.ts";
import { weighOnServices } from "../monitors/weigh-on-services.ts";

export interface ReceivedPing {
  monitorId: string;
  organizationId: string;
  /** Milliseconds since the epoch. */
  receivedAt: number;
  /** The edge that took it, null when unknown. */
  edgeId: string | null;
  ping: Ping;
}

type MonitorRow = typeof heartbeatMonitors.$inferSelect;

interface Tracked {
  monitor: MonitorRow;
  before: PingState;
  now: PingState;
}

const SHOWN_MESSAGE = 500;

/**
 * Applies pings in the order given: states, and for each monitor that goes down or comes up its event and its
 * service's opinion, dated `at`. Monitors are locked in the order of their ids and written once; the number of
 * statements does not depend on the number of pings. Pings of monitors that are unknown, deleted or of another
 * organization are skipped.
 */
export async function recordPings(tx: Transaction, pings: readonly ReceivedPing[], at: Date): Promise<void> {
  const tracked = await lockMonitors(tx, [...new Set(pings.map(({ monitorId }) => monitorId))]);
  const events: NewEvent[] = [];
  for (const { monitorId, organizationId, receivedAt, edgeId, ping } of pings) {
    const found = tracked.get(monitorId);
    if (!found || found.monitor.organizationId !== organizationId) continue;
    const { state, transition } = decidePing(found.monitor, found.now, ping, { receivedAt, edgeId, now: at.getTime() });
    found.now = state;
    if (transition === "down") events.push(monitorDown(found.monitor, failureText(ping), at));
    if (transition === "up") events.push(monitorUp(found.monitor, at));
  }
  const changed = [...tracked.values()].filter(({ before, now }) => now !== before);
  await storeStates(tx, changed);
  const moved = changed.filter(({ before, now }) => (before.status === "down") !== (now.status === "down"));
  await weighOnServices(tx, moved.map(({ monitor }) => monitor.serviceId), at);
  await emitEvents(tx, events);
}

async function lockMonitors(tx: Transaction, ids: string[]): Promise<Map<string, Tracked>> {
  if (ids.length === 0) return new Map();
  const rows = await tx
    .select()
    .from(heartbeatMonitors)
    // One parameter, whatever the number of monitors.
    .where(and(sql`${heartbeatMonitors.id} in (select value::uuid from jsonb_array_elements_text(${JSON.stringify(ids)}::jsonb))`, isNull(heartbeatMonitors.deletedAt)))
    .orderBy(asc(heartbeatMonitors.id))
    .for("no key update");
  return new Map(
    rows.map((monitor) => {
      const state: PingState = {
        status: monitor.status,
        lastPingAt: monitor.lastPingAt?.getTime() ?? null,
        lastStartAt: monitor.lastStartAt?.getTime() ?? null,
        nextExpectedAt: monitor.nextExpectedAt?.getTime() ?? null,
        lastDurationMs: monitor.lastDurationMs,
        memory: monitor.memory,
        warning: monitor.warning,
      };
      return [monitor.id, { monitor, before: state, now: state }];
    }),
  );
}

/** `updated_at` stays: it tells of changes by people. */
async function storeStates(tx: Transaction, changed: Tracked[]): Promise<void> {
  if (changed.length === 0) return;
  const iso = (ms: number | null) => (ms === null ? null : new Date(ms).toISOString());
  const rows = changed.map(({ monitor, now }) => ({
    id: monitor.id,
    status: now.status,
    last_ping_at: iso(now.lastPingAt),
    last_start_at: iso(now.lastStartAt),
    next_expected_at: iso(now.nextExpectedAt),
    last_duration_ms: now.lastDurationMs,
    memory: now.memory,
    warning: now.warning,
  }));
  await tx.execute(sql`
    update ${heartbeatMonitors} as monitor
    set status = new.status, last_ping_at = new.last_ping_at, last_start_at = new.last_start_at,
        next_expected_at = new.next_expected_at, last_duration_ms = new.last_duration_ms, memory = new.memory, warning = new.warning
    from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as new (id uuid, status heartbeat_status, last_ping_at timestamptz,
      last_start_at timestamptz, next_expected_at timestamptz, last_duration_ms integer, memory jsonb, warning text)
    where monitor.id = new.id`);
}

/** What `monitor.down` says of a fail. */
function failureText({ exit_code, message }: Ping): string {
  const code = exit_code === null || exit_code === 0 ? "" : ` with exit code ${exit_code}`;
  // The cut may halve a character of two units, which Postgres would refuse.
  const text = message === null || message.trim() === "" ? "." : `: ${message.trim().slice(0, SHOWN_MESSAGE).replace(/\p{Surrogate}/gu, "")}`;
  return `The job reported a failure${code}${text}`;
}
