import { setTimeout as wait } from "node:timers/promises";
import { eq, sum } from "drizzle-orm";
import { errorSignatures } from "../schemas/tables/all.ts";
import type { RoleProcess } from "../deploy/cluster/role-process.ts";
import { startAgain } from "./a-kill.ts";
import { underLoad, type FaultResult, type Form } from "./fault.ts";
import type { Stage } from "./stage.ts";

/** Settings of the stage: one fetch cannot hold what stands in all partitions. */
export const SMALL_FETCHES = { LOG_PARTITIONS: "16", KAFKA_FETCH_BYTES: String(2 ** 20) };

const AWAY_MS: Record<Form, number> = { short: 30_000, long: 60_000 };
const ROUNDS: Record<Form, number> = { short: 4, long: 10 };
const EVENTS_PER_SECOND = 2_000;
/** What is killed in a round is killed within this time, in any order. */
const ROUND_MS = 1_000;
const PAUSE_MS = { least: 0, most: 1_500 };

/**
 * Fault o: processors with small fetches catch up with a backlog in 16 partitions, and meanwhile all of them, the
 * broker, PostgreSQL and ClickHouse are killed again and again.
 */
export function smallFetches(stage: Stage, form: Form): Promise<FaultResult> {
  const needs = { fault: "o: killed while catching up", eventsPerSecond: EVENTS_PER_SECOND, recoverMs: 300_000 };
  return underLoad(stage, needs, async ({ ledger, organization, want }) => {
    const behindNow = () => countBehind(stage, organization.organizationId, () => ledger.count("acked"));
    await stage.clickhouse.cut();
    await wait(AWAY_MS[form]);
    const behind = [await behindNow()];
    await stage.clickhouse.pass();
    for (let round = 0; round < ROUNDS[form]; round++) {
      await untilCatchingUp(behindNow);
      await wait(PAUSE_MS.least + Math.random() * (PAUSE_MS.most - PAUSE_MS.least));
      behind.push(await behindNow());
      await killAll(stage);
    }
    want(Math.min(...behind) > EVENTS_PER_SECOND, "the backlog was gone before a kill");
    const after = `${AWAY_MS[form] / 1_000} s of ClickHouse away at ${EVENTS_PER_SECOND} events/s`;
    return `${ROUNDS[form]} kills of everything after ${after}; behind by ${behind.slice(1).join(", ")} events when killed`;
  });
}

/** Processors, broker and both databases, each at its own moment; resolves when all are back. */
async function killAll(stage: Stage): Promise<void> {
  const late = () => wait(Math.random() * ROUND_MS);
  const processors = stage.of("processor");
  const kill = (each: RoleProcess) => {
    each.signal("SIGKILL");
    return each.exited();
  };
  await Promise.all([
    late().then(() => stage.kafka.kill()).then(() => stage.kafka.start()),
    late().then(() => stage.killPostgres()),
    late().then(() => stage.killClickHouse()),
    ...processors.map((each) => late().then(() => kill(each))),
  ]);
  // A processor that finds no broker at its start ends.
  await Promise.all(processors.map(startAgain));
}

/** Waits until more is counted than before. */
async function untilCatchingUp(behindNow: () => Promise<number>): Promise<void> {
  for (let most = await behindNow(); ; ) {
    await wait(50);
    const now = await behindNow();
    if (now < most) return;
    most = now;
  }
}

/** How many events were acked and are not counted. PostgreSQL tells: GET /errors needs ClickHouse too. */
async function countBehind(stage: Stage, organizationId: string, acked: () => number): Promise<number> {
  const ofOrganization = eq(errorSignatures.organizationId, organizationId);
  const counted = stage.database.select({ occurrences: sum(errorSignatures.occurrences) });
  const [row] = await counted.from(errorSignatures).where(ofOrganization);
  return acked() - Number(row?.occurrences ?? 0);
}
