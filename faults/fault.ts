import { randomUUID } from "node:crypto";
import { setTimeout as wait } from "node:timers/promises";
import { makeLedger, type Ledger } from "../testing/ledger.ts";
import { startLoad, type Load } from "./load.ts";
import type { Stage } from "./stage.ts";

/** How long and how often: the short form is for every change, the long one for a release. */
export type Form = "short" | "long";

export interface FaultResult {
  /** As in the table of docs/reliability.md, such as "a kill -9 at random". */
  fault: string;
  /** How often or how long, in words. */
  times: string;
  acked: number;
  stored: number;
  lost: number;
  doubled: number;
  /** Requests that were told to come again. */
  refused: number;
  /** Of the beacons that were taken while the fault lasted, ms. */
  p99: number;
  /** From the fault's end until everything taken was counted by GET /errors, s. */
  recoveredAfter: number;
  /** What was wanted and not reached, as sentences. */
  missed: string[];
}

/** What a load needs of a stage. */
export type LoadedStage = Pick<Stage, "edges" | "rows" | "organization" | "counted" | "untilCounted">;

interface Scene {
  load: Load;
  ledger: Ledger;
  organization: Awaited<ReturnType<Stage["organization"]>>;
  /** Adds a sentence to what was missed unless `reached`. */
  want(reached: boolean, sentence: string): void;
}

interface FaultNeeds {
  fault: string;
  eventsPerSecond: number;
  /** How long everything may take to be counted once the fault is over. */
  recoverMs: number;
  /** Before the load begins. */
  prepare?: (organization: Scene["organization"]) => Promise<void>;
  pinged?: (organization: Scene["organization"]) => { slug: string; apiKey: string };
}

const WARM_UP_EVENTS = 200;
const WARM_UP_MS = 60_000;

/**
 * Loads the stage, lets `play` do the fault under the load (it resolves with how often, in words), stops the load, waits until all
 * that was taken is counted and compares: what was acked with the rows in ClickHouse, and these with what GET /errors counts.
 */
export async function underLoad(stage: LoadedStage, { fault, eventsPerSecond, recoverMs, prepare, pinged }: FaultNeeds, play: (scene: Scene) => Promise<string>): Promise<FaultResult> {
  const organization = await stage.organization(fault);
  await prepare?.(organization);
  const ledger = makeLedger(`${fault} ${randomUUID()}`);
  const missed: string[] = [];
  const want: Scene["want"] = (reached, sentence) => void (reached || missed.push(sentence));
  const load = startLoad({ edges: stage.edges, beaconKey: organization.beaconKey, ledger, eventsPerSecond, ...(pinged && { ping: pinged(organization) }) });
  let times: string;
  let lap: ReturnType<Load["lap"]>;
  try {
    await warmUp(stage, organization.apiKey);
    load.lap();
    times = await play({ load, ledger, organization, want });
    lap = load.lap();
  } finally {
    await load.stop();
  }
  const took = await stage.untilCounted(organization.apiKey, () => ledger.count("acked"), recoverMs);
  const verdict = await ledger.judge(stage.rows);
  const counted = await stage.counted(organization.apiKey);
  want(took < Infinity, `not all was counted ${recoverMs / 1_000} s after the fault`);
  want(verdict.lost === 0, `${verdict.lost} events were acked and are not stored`);
  want(verdict.doubled === 0, `${verdict.doubled} events are stored twice`);
  want(counted === verdict.stored, `GET /errors counts ${counted} of ${verdict.stored} stored events`);
  return { fault, times, ...verdict, refused: lap.refused, p99: lap.p99, recoveredAfter: took / 1_000, missed };
}

/** The whole pipeline works before a fault is judged. */
async function warmUp(stage: LoadedStage, apiKey: string): Promise<void> {
  for (const deadline = performance.now() + WARM_UP_MS; ((await stage.counted(apiKey)) ?? 0) < WARM_UP_EVENTS; await wait(100)) {
    if (performance.now() > deadline) throw new Error(`Not even ${WARM_UP_EVENTS} events were counted within ${WARM_UP_MS / 1_000} s before the fault began.`);
  }
}

/** The table of docs/reliability.md. */
export function tableOf(results: readonly FaultResult[]): string {
  const lines = results.map(({ fault, times, acked, stored, lost, doubled, refused, p99, recoveredAfter, missed }) =>
    `| ${[fault, times, acked, stored, lost, doubled, refused, Number.isNaN(p99) ? "" : `${p99.toFixed(0)} ms`, Number.isFinite(recoveredAfter) ? `${recoveredAfter.toFixed(1)} s` : "never", missed.join("; ") || "none"].join(" | ")} |`);
  return ["| fault | how often | acked | stored | lost | doubled | refused requests | beacon p99 meanwhile | counted after | missed |", "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |", ...lines].join("\n");
}
