import { setTimeout as wait } from "node:timers/promises";
import { beaconsOf } from "./bodies.ts";
import { httpRequest, load, type Load } from "./edge-load.ts";
import { judge, wanted } from "./goals.ts";
import { machine, option, table } from "./measuring.ts";
import { startPipeline, type Pipeline } from "./pipeline-stage.ts";
import { measureSaturation } from "./saturation.ts";

/**
 * Row 5 of the goals: every process but the edge and the stores hangs for five minutes while half of
 * what the pipeline carries comes in, then goes on. How long until the lag is gone, with the same
 * load all the while, and whether each event that was taken in is counted once. The lag
 * is gone when no more events wait than did before the outage.
 *
 *   PHAROS_TEST_KAFKA_LIBS=… npx tsx bench/catch-up.ts [--outage 300] [--rate 0] [--connections 64]
 *
 * `--rate` is events a second; 0 measures what the pipeline carries first and sends half of it.
 * Exits 1 when the goal is missed or the count is wrong.
 */
const OUTAGE_SECONDS = Number(option("outage", "300"));
const RATE = Number(option("rate", "0"));
const CONNECTIONS = Number(option("connections", "64"));
const EVENTS = 10;
const WARM_SECONDS = 10;
const GIVE_UP_SECONDS = 2 * OUTAGE_SECONDS;
/** Saturation is measured for so long: a short burst leaves merges for later, unpaid. */
const SATURATION_SECONDS = 60;
/** So long the lag is looked at before the outage: what is always on its way. */
const USUAL_SECONDS = 20;
const LOOK_MS = 500;
/** The load is asked after so often whether it is over. */
const ROUND_MS = 10_000;

interface CaughtUp {
  /** The most that waited before the outage, in events. */
  usual: number;
  /** Events that waited when the outage ended. */
  missed: number;
  /** From then until no more waited than usual; Infinity when that never came. */
  seconds: number;
}

/** `lag` gives how many events were taken in and are not counted yet. */
async function watchOutage(pipeline: Pipeline, lag: () => Promise<number>): Promise<CaughtUp> {
  let usual = 0;
  await wait(WARM_SECONDS * 1_000);
  for (let look = 0; look < (USUAL_SECONDS * 1_000) / LOOK_MS; look++) {
    await wait(LOOK_MS);
    usual = Math.max(usual, await lag());
  }
  pipeline.freeze();
  await wait(OUTAGE_SECONDS * 1_000);
  pipeline.thaw();
  const began = performance.now();
  const missed = await lag();
  let told = 0;
  for (;;) {
    const left = await lag();
    const seconds = (performance.now() - began) / 1_000;
    if (left <= usual) return { usual, missed, seconds };
    if (seconds > GIVE_UP_SECONDS) return { usual, missed, seconds: Infinity };
    if (seconds >= told) console.log(`${seconds.toFixed(0).padStart(4)} s after it: ${left} events wait`);
    if (seconds >= told) told += 15;
    await wait(LOOK_MS);
  }
}

interface Sum {
  taken: number;
  refused: number;
}

async function keepSending(of: Omit<Load, "ms">, sum: Sum, over: AbortSignal): Promise<void> {
  while (!over.aborted) {
    const { refused } = await load({ ...of, ms: ROUND_MS, onTaken: () => sum.taken++ });
    sum.refused += refused;
  }
}

async function main(): Promise<boolean> {
  const pipeline = await startPipeline({ edges: 1 });
  try {
    const { beaconKey, edgePort: port } = pipeline;
    const bodies = beaconsOf({ beaconKey, events: EVENTS, requests: 2_000 });
    const headers = { "Content-Type": "application/json" };
    const requests = bodies.map((body) => httpRequest("/api/beacon", headers, body));
    const all = { requests, events: EVENTS, connections: CONNECTIONS, seconds: WARM_SECONDS };
    await measureSaturation(pipeline, all);
    await pipeline.analyze();
    const sustained = { ...all, seconds: SATURATION_SECONDS };
    const rate = RATE || (await measureSaturation(pipeline, sustained)) / 2;

    const before = await pipeline.counted();
    const over = new AbortController();
    const sum: Sum = { taken: 0, refused: 0 };
    const loading = keepSending({ requests, port, connections: CONNECTIONS, perSecond: rate / EVENTS }, sum, over.signal);
    const lag = async () => before + sum.taken * EVENTS - (await pipeline.counted());
    const { usual, missed, seconds } = await watchOutage(pipeline, lag);
    over.abort();
    await loading;
    const refused = sum.refused;
    const sent = sum.taken * EVENTS;
    const deadline = performance.now() + GIVE_UP_SECONDS * 1_000;
    while ((await pipeline.counted()) < before + sent && performance.now() < deadline) await wait(500);
    const counted = (await pipeline.counted()) - before;
    console.log(`An outage of ${OUTAGE_SECONDS} s of all but the edge and the stores, ${rate.toFixed(0)} events/s; ${machine()}\n`);
    console.log(
      table([
        ["", "", "wanted"],
        ["waiting before it, at most", `${usual} events`, ""],
        ["waiting at its end", `${missed} events`, ""],
        ["until the lag is gone", `${seconds.toFixed(0)} s`, wanted("catch-up")],
        ["requests refused", String(refused), "0"],
        ["taken in, and counted", `${sent}, ${counted}`, "the same"],
      ]),
    );
    return [judge("catch-up", seconds), refused === 0, counted === sent].every(Boolean);
  } finally {
    pipeline.thaw();
    await pipeline.stop();
  }
}

process.exitCode = (await main()) ? 0 : 1;
