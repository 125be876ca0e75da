import { setTimeout as wait } from "node:timers/promises";
import type { RoleProcess } from "../deploy/cluster/role-process.ts";
import { underLoad, type FaultResult, type Form } from "./fault.ts";
import type { Stage } from "./stage.ts";

const KILLS: Record<Form, number> = { short: 6, long: 200 };
const MOST_STARTS = 5;
/** Each kill meets another moment of the work. */
const PAUSE_MS = { least: 300, most: 1_500 };

/** Fault a: kill -9 of any process at random, Kafka and PostgreSQL among them, each brought back before the next. */
export function killAtRandom(stage: Stage, form: Form): Promise<FaultResult> {
  return underLoad(stage, { fault: "a: kill -9 at random", eventsPerSecond: 1_000, recoverMs: 120_000 }, async () => {
    const killed = new Map<string, number>();
    const victims = victimsOf(stage);
    for (let kill = 0; kill < KILLS[form]; kill++) {
      await wait(PAUSE_MS.least + Math.random() * (PAUSE_MS.most - PAUSE_MS.least));
      // The first round takes each kind once, so that a short form leaves none out.
      const { name, killAndRestart } = victims[kill < victims.length ? kill : Math.floor(Math.random() * victims.length)]!;
      await killAndRestart();
      killed.set(name, (killed.get(name) ?? 0) + 1);
    }
    return `${KILLS[form]} kills (${[...killed].map(([name, times]) => `${name} ${times}`).join(", ")})`;
  });
}

function victimsOf(stage: Stage): { name: string; killAndRestart(): Promise<void> }[] {
  const processes = ["processor-1", "edge-1", "processor-2", "edge-2", "scheduler-1", "control-plane-1"].map((name) => stage.processes.find((each) => each.name === name)!);
  const [first, second, ...rest] = processes.map((each) => ({
    name: each.name,
    async killAndRestart() {
      each.signal("SIGKILL");
      await each.exited();
      await startAgain(each);
    },
  }));
  const kafka = { name: "kafka", killAndRestart: () => stage.kafka.kill().then(() => stage.kafka.start()) };
  const postgres = { name: "postgres", killAndRestart: () => stage.killPostgres() };
  return [first!, second!, kafka, postgres, ...rest];
}

/** As an orchestrator would: a process that ends while starting, because a store is just coming back, is started again. */
export async function startAgain(each: RoleProcess): Promise<void> {
  for (let tried = 1; ; tried++) {
    try {
      return await each.start();
    } catch (error) {
      if (each.running() || tried === MOST_STARTS) throw error;
      await wait(1_000);
    }
  }
}
