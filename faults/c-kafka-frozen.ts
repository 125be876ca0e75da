import { readFileSync } from "node:fs";
import { setTimeout as wait } from "node:timers/promises";
import type { RoleProcess } from "../deploy/cluster/role-process.ts";
import { underLoad, type FaultResult, type Form } from "./fault.ts";
import type { Stage } from "./stage.ts";

const EVENTS_PER_SECOND: Record<Form, number> = { short: 2_000, long: 10_000 };
const FROZEN_MS: Record<Form, number> = { short: 12_000, long: 600_000 };
const MOST_ANONYMOUS_MB = 512;
const BACK_WITHIN_MS = 5_000;
const SHARE_BACK = 0.95;

/**
 * Fault c: Kafka stands still with open connections until the spools are full; then 503 with `Retry-After`, memory stays bounded and the
 * rate is back at once. `SPOOL_BYTES` of the stage has to be small enough to fill within the time.
 */
export function kafkaFrozen(stage: Stage, form: Form): Promise<FaultResult> {
  return underLoad(stage, { fault: "c: Kafka frozen until the spool is full", eventsPerSecond: EVENTS_PER_SECOND[form], recoverMs: 300_000 }, async ({ load, organization, want }) => {
    load.lap();
    await wait(2_000);
    const usual = load.lap().answered / 2;
    let most = 0;
    const watching = setInterval(() => (most = Math.max(most, ...stage.of("edge").map(anonymousMb))), 250);
    await stage.kafka.freeze();
    const began = performance.now();
    let refusal: Response | null = null;
    while (performance.now() - began < FROZEN_MS[form]) {
      await wait(250);
      const answer = await fetch(`${stage.edges[0]}/api/beacon`, { method: "POST", body: JSON.stringify({ key: organization.beaconKey, events: [{ type: "vital", name: "probe", value: 1 }] }) });
      await answer.arrayBuffer();
      if (answer.status === 503) refusal ??= answer;
    }
    stage.kafka.thaw();
    clearInterval(watching);
    want(refusal !== null, "no spool was full");
    want(refusal === null || refusal.headers.has("retry-after"), "a 503 came without Retry-After");
    want(most <= MOST_ANONYMOUS_MB, `an edge held ${most.toFixed(0)} MB of anonymous memory`);
    const back = await untilBack(load, usual);
    want(back <= BACK_WITHIN_MS, `${SHARE_BACK * 100} % of the rate was back after ${(back / 1_000).toFixed(1)} s`);
    return `${FROZEN_MS[form] / 1_000} s at ${EVENTS_PER_SECOND[form]} events/s, RssAnon of an edge at most ${most.toFixed(0)} MB, rate back after ${(back / 1_000).toFixed(1)} s`;
  });
}

/** MB of RssAnon; 0 where the system does not tell. */
function anonymousMb(each: RoleProcess): number {
  try {
    return Number(/RssAnon:\s+(\d+)/.exec(readFileSync(`/proc/${each.pid()}/status`, "latin1"))?.[1] ?? 0) / 1_024;
  } catch {
    return 0;
  }
}

/** How long until a whole second was answered at nearly the usual rate, in ms. */
async function untilBack(load: { lap(): { answered: number } }, usual: number): Promise<number> {
  const began = performance.now();
  do {
    load.lap();
    await wait(1_000);
  } while (load.lap().answered < usual * SHARE_BACK && performance.now() - began < 120_000);
  return performance.now() - began - 1_000;
}
