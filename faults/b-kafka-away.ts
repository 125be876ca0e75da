import { setTimeout as wait } from "node:timers/promises";
import { and, eq } from "drizzle-orm";
import { heartbeatMonitors } from "../schemas/tables/all.ts";
import { underLoad, type FaultResult, type Form } from "./fault.ts";
import type { Stage } from "./stage.ts";

const AWAY_MS: Record<Form, number> = { short: 8_000, long: 600_000 };
const EVENTS_PER_SECOND: Record<Form, number> = { short: 1_000, long: 5_000 };
const MOST_P99_MS = 50;
const PUSH_MS = 1_000;

/** Fault b: Kafka is killed and stays away; beacons and pings are taken into the spool, pushes are answered at once. */
export function kafkaAway(stage: Stage, form: Form): Promise<FaultResult> {
  const seen = new Set<string>();
  return underLoad(stage, { fault: "b: Kafka away", eventsPerSecond: EVENTS_PER_SECOND[form], recoverMs: 60_000, prepare: (organization) => makeMonitor(stage, organization), pinged: ({ apiKey }) => ({ slug: "steady", apiKey }) }, async ({ load, organization, want }) => {
    // Its first pings are counted before Kafka goes away.
    await untilUp(stage, organization.organizationId);
    const watching = setInterval(() => void statusOf(stage, organization.organizationId).then((each) => seen.add(each ?? "unknown")), 250);
    await stage.kafka.kill();
    // An edge takes SPOOL_AFTER_MS to find out; from then on its answers do not wait for Kafka.
    await wait(3_000);
    load.lap();
    await wait(AWAY_MS[form] - 3_000);
    const push = await pushMetrics(stage, organization);
    want(push.status === 202 && push.ms <= PUSH_MS, `a metrics push was answered ${push.status} after ${push.ms.toFixed(0)} ms`);
    const { p99, pingP99, refused } = load.lap();
    want(p99 <= MOST_P99_MS, `beacon p99 ${p99.toFixed(0)} ms while Kafka was away (wanted ${MOST_P99_MS})`);
    want(pingP99 <= MOST_P99_MS, `heartbeat p99 ${pingP99.toFixed(0)} ms while Kafka was away (wanted ${MOST_P99_MS})`);
    want(refused === 0, `${refused} requests were refused while Kafka was away`);
    await stage.kafka.start();
    clearInterval(watching);
    want(!seen.has("down"), "a heartbeat monitor fell");
    return `${AWAY_MS[form] / 1_000} s at ${EVENTS_PER_SECOND[form]} events/s`;
  });
}

async function makeMonitor(stage: Stage, { apiKey, organizationId }: { apiKey: string; organizationId: string }): Promise<void> {
  const body = JSON.stringify({ name: "steady", slug: "steady", schedule_type: "interval", interval_seconds: 60, grace_seconds: 60 });
  const made = await fetch(`${stage.base}/api/v1/heartbeat-monitors`, { method: "POST", headers: { "X-API-Key": apiKey, "Content-Type": "application/json" }, body });
  if (made.status !== 201) throw new Error(`The monitor was not made: ${made.status} ${await made.text()}`);
  // Shorter than people may have it, so that it would fall within the short form.
  await stage.database.update(heartbeatMonitors).set({ intervalSeconds: 5, graceSeconds: 1 }).where(eq(heartbeatMonitors.organizationId, organizationId));
}

/** Undefined while PostgreSQL is too busy to say. */
async function statusOf(stage: Stage, organizationId: string): Promise<string | undefined> {
  const [row] = await stage.database.select({ status: heartbeatMonitors.status }).from(heartbeatMonitors).where(and(eq(heartbeatMonitors.organizationId, organizationId), eq(heartbeatMonitors.slug, "steady"))).catch(() => []);
  return row?.status;
}

async function untilUp(stage: Stage, organizationId: string): Promise<void> {
  for (const deadline = performance.now() + 30_000; (await statusOf(stage, organizationId)) !== "up"; await wait(100)) {
    if (performance.now() > deadline) throw new Error("The heartbeat monitor does not come up.");
  }
}

async function pushMetrics(stage: Stage, { apiKey, serviceId }: { apiKey: string; serviceId: string }): Promise<{ status: number; ms: number }> {
  const began = performance.now();
  const answer = await fetch(`${stage.edges[0]}/api/metrics/ingest`, { method: "POST", headers: { "X-API-Key": apiKey }, body: JSON.stringify({ service_id: serviceId, metrics: { error_rate: 0 } }) });
  await answer.arrayBuffer();
  return { status: answer.status, ms: performance.now() - began };
}
