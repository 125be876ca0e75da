import { setTimeout as wait } from "node:timers/promises";
import { underLoad, type FaultResult, type Form } from "./fault.ts";
import type { Stage } from "./stage.ts";

const ROUNDS: Record<Form, number> = { short: 1, long: 20 };
const EVENTS_PER_SECOND: Record<Form, number> = { short: 2_000, long: 5_000 };
const MOST_MS = 10_000;

/** Fault j: every kind of process is stopped in good order at full load; what it accepted is answered and counted. */
export function stopUnderLoad(stage: Stage, form: Form): Promise<FaultResult> {
  return underLoad(stage, { fault: "j: SIGTERM at full load", eventsPerSecond: EVENTS_PER_SECOND[form], recoverMs: 120_000 }, async ({ want }) => {
    let slowest = 0;
    for (let round = 0; round < ROUNDS[form]; round++) {
      for (const each of stage.processes) {
        await wait(300);
        const began = performance.now();
        each.signal("SIGTERM");
        const code = await each.exited();
        slowest = Math.max(slowest, performance.now() - began);
        want(code === 0, `${each.name} ended with ${code}`);
        await each.start();
      }
    }
    want(slowest <= MOST_MS, `a stop took ${(slowest / 1_000).toFixed(1)} s`);
    return `${ROUNDS[form] * stage.processes.length} stops, the slowest ${(slowest / 1_000).toFixed(1)} s`;
  });
}
