import { setTimeout as wait } from "node:timers/promises";
import { underLoad, type FaultResult, type Form, type LoadedStage } from "./fault.ts";
import type { SmallDisk } from "./small-disk.ts";
import type { Stage } from "./stage.ts";

const FULL_MS: Record<Form, number> = { short: 8_000, long: 120_000 };
const EVENTS_PER_SECOND = 500;
const BACK_WITHIN_MS = 10_000;
const TRIED_FOR_MS = 60_000;

/** Fault k, the edges' disk: Kafka is away and the spool's disk is full, long before the spool itself is. */
export function spoolDiskFull(stage: Stage, disk: SmallDisk, form: Form): Promise<FaultResult> {
  return underLoad(stage, { fault: "k: the spool's disk is full", eventsPerSecond: EVENTS_PER_SECOND, recoverMs: 60_000 }, async ({ organization, want }) => {
    const edge = stage.edges[0]!;
    await stage.kafka.kill();
    want((await untilTaken(() => sendProbe(edge, organization.beaconKey))) < Infinity, "the spool was not used");
    const back = await fillAndFree(disk, form, { edge, beaconKey: organization.beaconKey, want });
    await stage.kafka.start();
    return back;
  });
}

/** Fault k, the only disk: one process with every role and its embedded stores, whose disk is full. */
export function onlyDiskFull(stage: LoadedStage, disk: SmallDisk, form: Form): Promise<FaultResult> {
  return underLoad(stage, { fault: "k: the disk of `npm start` is full", eventsPerSecond: EVENTS_PER_SECOND, recoverMs: 120_000 }, ({ organization, want }) =>
    fillAndFree(disk, form, { edge: stage.edges[0]!, beaconKey: organization.beaconKey, want }));
}

interface Watched {
  edge: string;
  beaconKey: string;
  want(reached: boolean, sentence: string): void;
}

async function fillAndFree(disk: SmallDisk, form: Form, { edge, beaconKey, want }: Watched): Promise<string> {
  const probe = () => sendProbe(edge, beaconKey);
  disk.fill();
  const full = performance.now();
  let refusal: Response | null = null;
  let unready = false;
  let taken = 0;
  while (performance.now() - full < FULL_MS[form]) {
    await wait(250);
    const answer = await probe();
    if (answer?.status === 503) refusal ??= answer;
    else if (refusal && answer?.status === 202) taken += 1;
    unready ||= (await answerOf(`${edge}/readyz`))?.status === 503;
  }
  want(refusal !== null, "no 503 came while the disk was full");
  want(refusal === null || refusal.headers.has("retry-after"), "a 503 came without Retry-After");
  want(unready, "/readyz did not say 503");
  disk.free();
  const back = await untilTaken(probe);
  want(back <= BACK_WITHIN_MS, `beacons were taken again ${(back / 1_000).toFixed(1)} s after there was space`);
  return `${FULL_MS[form] / 1_000} s at ${EVENTS_PER_SECOND} events/s, ${taken} of the probes taken after the first 503, taking again after ${(back / 1_000).toFixed(1)} s`;
}

/** How long until a beacon was taken, in ms; Infinity when none was. */
async function untilTaken(probe: () => Promise<Response | null>): Promise<number> {
  const began = performance.now();
  while ((await probe())?.status !== 202) {
    if (performance.now() - began > TRIED_FOR_MS) return Infinity;
    await wait(100);
  }
  return performance.now() - began;
}

/** A measurement, which the count of errors does not see. */
function sendProbe(edge: string, key: string): Promise<Response | null> {
  return answerOf(`${edge}/api/beacon`, { method: "POST", body: JSON.stringify({ key, events: [{ type: "vital", name: "probe", value: 1 }] }) });
}

/** Null when no answer came. */
async function answerOf(url: string, options: RequestInit = {}): Promise<Response | null> {
  try {
    const answer = await fetch(url, { ...options, signal: AbortSignal.timeout(12_000) });
    await answer.arrayBuffer();
    return answer;
  } catch {
    return null;
  }
}
