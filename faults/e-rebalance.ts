import { setTimeout as wait } from "node:timers/promises";
import { underLoad, type FaultResult, type Form } from "./fault.ts";
import type { Stage } from "./stage.ts";

const REBALANCES: Record<Form, number> = { short: 4, long: 100 };
const EVENTS_PER_SECOND: Record<Form, number> = { short: 1_000, long: 5_000 };

/** Fault e: processors leave and join in turns, so that partitions change hands under load; each leaving and each joining is a rebalance. */
export function rebalance(stage: Stage, form: Form): Promise<FaultResult> {
  return underLoad(stage, { fault: "e: rebalances", eventsPerSecond: EVENTS_PER_SECOND[form], recoverMs: 120_000 }, async ({ want }) => {
    const processors = stage.of("processor");
    for (let done = 0; done < REBALANCES[form]; done += 2) {
      const each = processors[(done / 2) % processors.length]!;
      // A good leaving hands over at once, a killed one loses its partitions by time.
      if (done % 4 === 0) await each.end(15_000);
      else {
        each.signal("SIGKILL");
        await each.exited();
      }
      await wait(300);
      await each.start();
      await wait(300);
    }
    want(processors.every((each) => each.running()), "a processor does not run");
    return `${REBALANCES[form]} rebalances`;
  });
}
