import { inArray, sql, type SQL } from "drizzle-orm";
import { inTransaction, type Database, type Transaction } from "../../platform/postgres/database.ts";
import { heartbeatMonitors } from "../../schemas/tables/all.ts";
import type { PingMemory } from "../../schemas/tables/heartbeats.ts";
import type { HeartbeatStatus } from "../../schemas/vocabulary.ts";
import { emitEvents } from "../events/emit.ts";
import { heartbeatMissed, monitorDown } from "./monitor-events.ts";
import { weighOnServices } from "../monitors/weigh-on-services.ts";
import { earliestStart, markOverrun } from "./runs.ts";

interface LateMoments {
  now: Date;
  /** Every ping received before this moment has been processed. */
  provenUpTo: Date;
  /** Since when pings can have come in without interruption. */
  serviceStartedAt: Date;
}

interface LateRow {
  id: string;
  organizationId: string;
  serviceId: string | null;
  name: string;
  status: HeartbeatStatus;
  verdict: "grace" | "missed" | "overrun";
  lastPingAt: Date | null;
  expectedAt: Date;
  maxRuntimeSeconds: number | null;
  memory: PingMemory;
}

const BATCH = 500;

/**
 * Moves monitors whose ping did not come: up → grace once it was expected, grace (or up) → down once the grace is over
 * too, and anything → down whose run began and did not finish within `max_runtime_seconds`. A run in progress that
 * has such a limit is judged by it: its monitor is late only when the limit has passed since the ping was expected. Each run exceeds
 * its limit once; on a monitor that is down already it is only noted.
 * Nothing goes down before its grace has passed since `serviceStartedAt`. Monitors that another transaction holds are
 * left for the next call. Returns how many were moved.
 */
export async function flipLate(database: Database, moments: LateMoments): Promise<number> {
  let flipped = 0;
  // Nearly always nobody is late: one statement says so.
  const [answer] = (await database.execute<{ any: boolean }>(sql`select exists (${lateCandidates(moments)}) or exists (${overrunCandidates(moments)}) as any`)).rows;
  if (!answer!.any) return 0;
  for (const candidates of [lateCandidates(moments), overrunCandidates(moments)]) {
    for (let found = BATCH; found === BATCH; flipped += found) found = await inTransaction(database, (tx) => flipBatch(tx, candidates, moments));
  }
  return flipped;
}

const RUNNING = sql`(last_start_at is not null and max_runtime_seconds is not null)`;
const GRACE = sql`make_interval(secs => grace_seconds)`;
const RUNTIME = sql`make_interval(secs => max_runtime_seconds)`;

/** Rows by `heartbeat_monitors_due`: a ping was expected and did not come. */
function lateCandidates({ provenUpTo, serviceStartedAt }: LateMoments): SQL {
  const proven = sql`${provenUpTo.toISOString()}::timestamptz`;
  const graceOver = sql`(next_expected_at + ${GRACE} + case when ${RUNNING} then ${RUNTIME} else interval '0' end < ${proven}
    and ${serviceStartedAt.toISOString()}::timestamptz + ${GRACE} <= ${proven})`;
  return sql`
    select id, organization_id, service_id, name, status, memory, last_ping_at, max_runtime_seconds, next_expected_at as expected_at,
      case when ${graceOver} then 'missed' else 'grace' end as verdict
    from ${heartbeatMonitors}
    where status in ('up', 'grace') and deleted_at is null and next_expected_at < ${proven}
      and (${graceOver} or (status = 'up' and not ${RUNNING}))`;
}

/** A run began and did not finish in time. */
function overrunCandidates({ provenUpTo, serviceStartedAt }: LateMoments): SQL {
  const proven = sql`${provenUpTo.toISOString()}::timestamptz`;
  return sql`
    select id, organization_id, service_id, name, status, memory, last_ping_at, max_runtime_seconds, last_start_at + ${RUNTIME} as expected_at, 'overrun' as verdict
    from ${heartbeatMonitors}
    where status in ('new', 'up', 'grace', 'down') and deleted_at is null and last_start_at < ${proven} and last_start_at + ${RUNTIME} < ${proven}
      and ${serviceStartedAt.toISOString()}::timestamptz + ${GRACE} <= ${proven}`;
}

async function flipBatch(tx: Transaction, candidates: SQL, moments: LateMoments): Promise<number> {
  const { rows } = await tx.execute(sql`${candidates} order by id limit ${BATCH} for no key update skip locked`);
  const late = rows.map(lateRow);
  const graced = late.filter(({ verdict }) => verdict === "grace");
  if (graced.length > 0) await tx.update(heartbeatMonitors).set({ status: "grace" }).where(inArray(heartbeatMonitors.id, graced.map(({ id }) => id)));
  await storeDown(tx, late.filter(({ verdict }) => verdict !== "grace"), moments);
  const { now } = moments;
  const down = late.filter(({ verdict, status }) => verdict !== "grace" && status !== "down");
  await weighOnServices(tx, down.map(({ serviceId }) => serviceId), now);
  await emitEvents(tx, down.flatMap((row) => [heartbeatMissed(row, row, now), monitorDown(row, errorText(row, now), now)]));
  return late.length;
}

/** Runs that have exceeded their limit are marked as told; those within it go on. */
async function storeDown(tx: Transaction, late: LateRow[], { provenUpTo }: LateMoments): Promise<void> {
  if (late.length === 0) return;
  const rows = late.map(({ id, memory, maxRuntimeSeconds }) => {
    const marked = maxRuntimeSeconds === null ? memory : markOverrun(memory, maxRuntimeSeconds * 1_000, provenUpTo.getTime());
    const earliest = earliestStart(marked);
    return { id, memory: marked, last_start_at: earliest === null ? null : new Date(earliest).toISOString() };
  });
  await tx.execute(sql`
    update ${heartbeatMonitors} as monitor set status = 'down', next_expected_at = null, last_start_at = new.last_start_at, memory = new.memory
    from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as new (id uuid, last_start_at timestamptz, memory jsonb)
    where monitor.id = new.id`);
}

function lateRow(row: Record<string, unknown>): LateRow {
  return {
    id: row.id as string,
    organizationId: row.organization_id as string,
    serviceId: row.service_id as string | null,
    name: row.name as string,
    status: row.status as HeartbeatStatus,
    verdict: row.verdict as LateRow["verdict"],
    lastPingAt: row.last_ping_at === null ? null : new Date(row.last_ping_at as string),
    expectedAt: new Date(row.expected_at as string),
    maxRuntimeSeconds: row.max_runtime_seconds as number | null,
    memory: row.memory as PingMemory,
  };
}

function errorText({ verdict, lastPingAt, maxRuntimeSeconds, memory }: LateRow, now: Date): string {
  const run = memory.open.find(({ overrun }) => overrun === undefined);
  if (verdict !== "overrun" || !run) return `No ping since ${lastPingAt === null ? "it was created" : lastPingAt.toISOString()}.`;
  const name = run.id === null ? "" : ` "${run.id}"`;
  const seconds = Math.round((now.getTime() - run.startedAt) / 1_000);
  return `The run${name} that began at ${new Date(run.startedAt).toISOString()} is still running after ${seconds} s: it did not finish within ${maxRuntimeSeconds} s.`;
}
