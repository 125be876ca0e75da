import { setTimeout as wait } from "node:timers/promises";
import { and, eq } from "drizzle-orm";
import { murmur2Partition } from "../platform/event-log/partition.ts";
import { errorSignatures } from "../schemas/tables/all.ts";
import { underLoad, type FaultResult, type Form } from "./fault.ts";
import { watchFreshness, type Freshness, type FreshnessLap } from "./freshness.ts";
import { startLoad } from "./load.ts";
import type { Stage } from "./stage.ts";

const PARTITIONS = 64;
/** Settings of the stage. */
export const MANY_PARTITIONS = { LOG_PARTITIONS: String(PARTITIONS) };

const STUCK_MS: Record<Form, number> = { short: 20_000, long: 600_000 };
const BEFORE_MS: Record<Form, number> = { short: 15_000, long: 120_000 };
/** Processors find out which partition it is; until then others may wait. */
const FOUND_OUT_MS = 8_000;
const SETTLE_MS = 60_000;
const EVENTS_PER_SECOND = 500;
const STUCK_EVENTS_PER_SECOND = 50;
const STUCK = "stuck";
const SESSIONS = 50;
const MOST_TIMES = 2;
/** Below this a doubled p99 is the noise of a busy machine. */
const NOISE_MS = 1_000;
const LEAST_SHARE = 0.85;

/**
 * Fault p: a signature whose events meet one partition is locked in PostgreSQL, so that this partition cannot be
 * counted. Those of all other partitions are, as fast as before.
 */
export function stuckPartition(stage: Stage, form: Form): Promise<FaultResult> {
  const needs = { fault: "p: one partition stuck", eventsPerSecond: EVENTS_PER_SECOND, recoverMs: 120_000 };
  return underLoad(stage, needs, async ({ ledger, organization, want }) => {
    const { edges, base } = stage;
    const { beaconKey, apiKey, organizationId } = organization;
    const load = startLoad({ edges, beaconKey, ledger, eventsPerSecond: STUCK_EVENTS_PER_SECOND, only: STUCK });
    const marked = await stage.organization("p: marks");
    const freshness = watchFreshness({ edge: edges[0]!, base, organization: marked, sessions: sessionsElsewhere() });
    try {
      const signature = await signatureOf(stage, organizationId);
      await settle(freshness);
      await wait(BEFORE_MS[form]);
      const before = freshness.lap();
      const unlock = await lockSignature(stage, signature);
      const from = { counted: await stage.counted(apiKey), acked: ledger.count("acked") };
      await wait(FOUND_OUT_MS);
      const finding = freshness.lap();
      await wait(STUCK_MS[form] - FOUND_OUT_MS);
      const during = freshness.lap();
      const share = ((await stage.counted(apiKey))! - from.counted!) / (ledger.count("acked") - from.acked);
      await unlock();
      const most = Math.max(MOST_TIMES * before.p99, NOISE_MS);
      want(during.p99 <= most, `p99 of others ${during.p99.toFixed(0)} ms (wanted ${most.toFixed(0)})`);
      want(share >= LEAST_SHARE, `only ${(share * 100).toFixed(0)} % of what was acked meanwhile was counted`);
      return [
        `${STUCK_MS[form] / 1_000} s at ${EVENTS_PER_SECOND} events/s, ${STUCK_EVENTS_PER_SECOND} more of the locked signature`,
        `others visible before ${inWords(before)}, in the first ${FOUND_OUT_MS / 1_000} s ${inWords(finding)}, then ${inWords(during)}`,
        `${(share * 100).toFixed(1)} % of all events counted meanwhile`,
      ].join("; ");
    } finally {
      await Promise.all([load.stop(), freshness.stop()]);
    }
  });
}

function inWords({ samples, p50, p99, longest }: FreshnessLap): string {
  return `p50 ${p50.toFixed(0)}, p99 ${p99.toFixed(0)}, longest ${longest.toFixed(0)} ms (${samples} marks)`;
}

/** Waits until events are counted as soon as they will be. */
async function settle(freshness: Freshness): Promise<void> {
  for (const deadline = performance.now() + SETTLE_MS; performance.now() < deadline; ) {
    await wait(5_000);
    if (freshness.lap().longest < NOISE_MS) return;
  }
}

/** None of them meets the partition that is stuck. */
function sessionsElsewhere(): string[] {
  const stuck = murmur2Partition(STUCK, PARTITIONS);
  const sessions = Array.from({ length: 2 * SESSIONS }, (_, number) => `mark${number}`);
  return sessions.filter((session) => murmur2Partition(session, PARTITIONS) !== stuck).slice(0, SESSIONS);
}

/** Waits until it is counted for the first time. */
async function signatureOf(stage: Stage, organizationId: string): Promise<string> {
  const isIt = and(eq(errorSignatures.organizationId, organizationId), eq(errorSignatures.type, `Fault${STUCK}`));
  for (const deadline = performance.now() + 60_000; ; await wait(100)) {
    const [row] = await stage.database.select({ id: errorSignatures.id }).from(errorSignatures).where(isIt);
    if (row) return row.id;
    if (performance.now() > deadline) throw new Error("The signature that is to be locked is not counted.");
  }
}

/** Holds the signature's row in a transaction that is idle until the returned function is called. */
async function lockSignature(stage: Stage, id: string): Promise<() => Promise<void>> {
  const client = await stage.database.$client.connect();
  await client.query("set idle_in_transaction_session_timeout = 0");
  await client.query("begin");
  await client.query("select id from error_signatures where id = $1 for update", [id]);
  return async () => {
    await client.query("rollback");
    client.release(true);
  };
}
