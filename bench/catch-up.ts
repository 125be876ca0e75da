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
 * load all the while, and whether each event that was taken in is counted once.
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
/** The lag counts as gone at what comes in within this time: so much is always on its way. */
const GONE_SECONDS = 1;
/** The load is asked after so often whether it is over. */
const ROUND_MS = 10_000;

interface CaughtUp {
  /** Events that waited when the outage ended. */
  missed: number;
  /** From then until the lag was gone; Infinity when it never was. */
  seconds: number;
}

async function watchOutage(pipeline: Pipeline, rate: number): Promise<CaughtUp> {
  pipeline.freeze();
  await wait(OUTAGE_SECONDS * 1_000);
  pipeline.thaw();
  const began = performance.now();
  let missed = 0;
  for (;;) {
    const lag = await pipeline.lag();
    missed = Math.max(missed, lag);
    const seconds = (performance.now() - began) / 1_000;
    if (missed > rate * GONE_SECONDS && lag <= rate * GONE_SECONDS) return { missed, seconds };
    if (seconds > GIVE_UP_SECONDS) return { missed, seconds: Infinity };
    await wait(500);
  }
}

async function keepSending(of: Omit<Load, "ms">, over: AbortSignal): Promise<{ taken: number; refused: number }> {
  const sum = { taken: 0, refused: 0 };
  while (!over.aborted) {
    const { taken, refused } = await load({ ...of, ms: ROUND_MS });
    sum.taken += taken;
    sum.refused += refused;
  }
  return sum;
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
    const rate = RATE || (await measureSaturation(pipeline, all)) / 2;

    const before = await pipeline.counted();
    const over = new AbortController();
    const loading = keepSending({ requests, port, connections: CONNECTIONS, perSecond: rate / EVENTS }, over.signal);
    const { missed, seconds } = await watchOutage(pipeline, rate);
    over.abort();
    const { taken, refused } = await loading;
    const sent = taken * EVENTS;
    const deadline = performance.now() + GIVE_UP_SECONDS * 1_000;
    while ((await pipeline.counted()) < before + sent && performance.now() < deadline) await wait(500);
    const counted = (await pipeline.counted()) - before;
    console.log(`An outage of ${OUTAGE_SECONDS} s of all but the edge and the stores, ${rate.toFixed(0)} events/s; ${machine()}\n`);
    console.log(
      table([
        ["", "", "wanted"],
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
