import { setTimeout as wait } from "node:timers/promises";
import { underLoad, type FaultResult, type Form } from "./fault.ts";
import type { Stage } from "./stage.ts";

const RESTORES: Record<Form, number> = { short: 2, long: 4 };
const AGE_MS: Record<Form, number> = { short: 8_000, long: 60_000 };
const EVENTS_PER_SECOND: Record<Form, number> = { short: 1_000, long: 2_000 };
const GOES_ON_MS = 60_000;

/** Fault l: PostgreSQL is restored from an older copy under load; Kafka and ClickHouse keep everything. */
export function postgresRestored(stage: Stage, form: Form): Promise<FaultResult> {
  const eventsPerSecond = EVENTS_PER_SECOND[form];
  const needs = { fault: "l: PostgreSQL restored", eventsPerSecond, recoverMs: 120_000 };
  return underLoad(stage, needs, async ({ organization, want }) => {
    const forgotten: number[] = [];
    const paused: number[] = [];
    for (let done = 0; done < RESTORES[form]; done++) {
      await stage.copyPostgres();
      const copied = await countsAgain(stage, organization.apiKey);
      await untilCounted(stage, organization.apiKey, copied + 1);
      await wait(AGE_MS[form]);
      const before = await countsAgain(stage, organization.apiKey);
      await stage.restorePostgres();
      const restored = performance.now();
      forgotten.push(before - copied);
      await untilCounted(stage, organization.apiKey, before + 1);
      paused.push(performance.now() - restored);
    }
    want(Math.min(...forgotten) > 0, "nothing was counted between a copy and its restore");
    const pause = `counting was where it had been after at most ${(Math.max(...paused) / 1_000).toFixed(1)} s`;
    return `${RESTORES[form]} restores, copies ${AGE_MS[form] / 1_000} s old, that forgot ${forgotten.join(", ")} counted events at ${eventsPerSecond} events/s; ${pause}`;
  });
}

/** What GET /errors counts, as soon as it answers. */
function countsAgain(stage: Stage, apiKey: string): Promise<number> {
  return untilCounted(stage, apiKey, 0);
}

async function untilCounted(stage: Stage, apiKey: string, atLeast: number): Promise<number> {
  for (const deadline = performance.now() + GOES_ON_MS; ; await wait(100)) {
    const counted = await stage.counted(apiKey);
    if (counted !== null && counted >= atLeast) return counted;
    if (performance.now() > deadline) throw new Error(`GET /errors counts ${counted}, not yet ${atLeast}.`);
  }
}
