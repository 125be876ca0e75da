import { setTimeout as wait } from "node:timers/promises";
import { newId } from "../platform/ids.ts";
import { httpRequest, load } from "./edge-load.ts";
import { beaconsOf } from "./bodies.ts";
import { GOALS, judge, wanted } from "./goals.ts";
import { machine, option, quantile, table } from "./measuring.ts";
import { startPipeline, type Pipeline } from "./pipeline-stage.ts";
import { measureSaturation } from "./saturation.ts";

/**
 * Row 4 of the goals: how long after its 202 an error stands in GET /errors, while the pipeline carries half of what it can. Probes of an
 * error of their own come beside the load; they are looked for every 50 ms.
 *
 *   PHAROS_TEST_KAFKA_LIBS=… npx tsx bench/freshness.ts [--seconds 30] [--rate 0] [--connections 64] [--flood yes]
 *
 * `--rate` is the load in events a second; 0 measures what the pipeline takes first and uses half of it. With `--flood` the load is all
 * that one organization's connections can send, and the probes are another organization's. Exits 1 when the goal is missed.
 */
const SECONDS = Number(option("seconds", "30"));
const RATE = Number(option("rate", "0"));
const CONNECTIONS = Number(option("connections", "64"));
const FLOOD = option("flood", "no") === "yes";
/** Until the flood is noticed and announced. */
const NOTICE_MS = 4_000;
const EVENTS = 10;
const PROBES_PER_SECOND = 4;
/** A flood's neighbours are fresh when they come within this. */
const FRESH_MS = GOALS["freshness/p99"].atMost;
const GIVE_UP_MS = 30_000;
const READ_EVERY_MS = 50;

interface Probed {
  apiKey: string;
  serviceId: string;
  beaconKey: string;
}

/** The probes have a service of their own, whose list is short. */
async function makeService({ base, apiKey }: Pipeline): Promise<Probed> {
  const post = async (path: string, body: object): Promise<Record<string, string>> => {
    const answer = await fetch(`${base}/api/v1${path}`, { method: "POST", headers: { "X-API-Key": apiKey, "Content-Type": "application/json" }, body: JSON.stringify(body) });
    if (!answer.ok) throw new Error(`${path} answered ${answer.status}: ${await answer.text()}`);
    return (await answer.json()) as Record<string, string>;
  };
  const serviceId = (await post("/services", { name: "Probes" })).id!;
  return { apiKey, serviceId, beaconKey: (await post("/beacon-keys", { name: "Probes", service_id: serviceId })).key! };
}

interface Watch {
  /** Sends an error of its own; ms from its answer until GET /errors shows it, Infinity when it never does. */
  probe(): Promise<number>;
  stop(): Promise<void>;
}

/** One reader for all probes: a reader for each would be the greatest load of all. */
function watchErrors({ base, edgePort }: Pipeline, { apiKey, beaconKey, serviceId }: Probed): Watch {
  const waiting = new Map<string, { began: number; seen(ms: number): void }>();
  const stopping = new AbortController();
  let number = 0;

  async function read(): Promise<void> {
    while (!stopping.signal.aborted) {
      const answer = await fetch(`${base}/api/v1/errors?service_id=${serviceId}&limit=100`, { headers: { "X-API-Key": apiKey } });
      const { errors } = (await answer.json()) as { errors?: { message: string }[] };
      if (errors === undefined) throw new Error(`GET /errors answered ${answer.status}.`);
      const shown = new Set(errors.map(({ message }) => message));
      const now = performance.now();
      for (const [name, { began, seen }] of waiting) {
        if (!shown.has(name) && now - began < GIVE_UP_MS) continue;
        waiting.delete(name);
        seen(shown.has(name) ? now - began : Infinity);
      }
      await wait(READ_EVERY_MS);
    }
  }

  const reading = read();
  return {
    async probe() {
      const name = `Probe${process.pid}x${(number += 1)}`;
      const body = JSON.stringify({ key: beaconKey, session_id: name, events: [{ event_id: newId(), type: "error", error_type: name, message: name }] });
      const answer = await fetch(`http://127.0.0.1:${edgePort}/api/beacon`, { method: "POST", body });
      await answer.arrayBuffer();
      if (answer.status !== 202) throw new Error(`A probe was answered ${answer.status}.`);
      return new Promise<number>((seen) => waiting.set(name, { began: performance.now(), seen }));
    },
    async stop() {
      stopping.abort();
      await reading;
    },
  };
}

/** Until all signatures are there, as they are in a service that runs. */
async function warmUp({ edgePort, counted, analyze }: Pipeline, requests: Buffer[]): Promise<void> {
  const { taken } = await load({ port: edgePort, connections: 8, requests, ms: 10_000, perSecond: 200 });
  while ((await counted()) < taken * EVENTS) await wait(50);
  await analyze();
}

/** The other organization sends a little too, for who is alone floods nobody; tells how long it waited for one of its own at the worst. */
async function untilApart(watch: Watch): Promise<void> {
  const began = performance.now();
  let worst = 0;
  for (;;) {
    const took = await watch.probe();
    const since = performance.now() - began;
    if (since > NOTICE_MS && took <= FRESH_MS) return console.log(`The flood's beginning held others up for up to ${(worst / 1_000).toFixed(1)} s; ${(since / 1_000).toFixed(0)} s after it began their beacons are fresh again.`);
    worst = Math.max(worst, took);
    if (since > 60_000) return console.log("A minute after the flood began the beacons of others still come late.");
  }
}
async function main(): Promise<boolean> {
  const pipeline = await startPipeline();
  try {
    const requests = beaconsOf({ beaconKey: pipeline.beaconKey, events: EVENTS, requests: 2_000 }).map((body) => httpRequest("/api/beacon", { "Content-Type": "application/json" }, body));
    const probed = FLOOD ? await pipeline.createOrganization("Calm") : await makeService(pipeline);
    await warmUp(pipeline, requests);
    const all = { requests, events: EVENTS, connections: CONNECTIONS, seconds: Math.min(10, SECONDS) };
    const rate = RATE || (FLOOD ? 0 : (await measureSaturation(pipeline, all)) / 2);
    const loading = load({ port: pipeline.edgePort, connections: CONNECTIONS, requests, ms: SECONDS * 1_000 + (FLOOD ? 60_000 : 0), ...(rate > 0 && { perSecond: rate / EVENTS }) });
    const watch = watchErrors(pipeline, probed);
    if (FLOOD) await untilApart(watch);
    const probes: Promise<number>[] = [];
    for (let number = 0; number < SECONDS * PROBES_PER_SECOND; number++) {
      probes.push(watch.probe());
      await wait(1_000 / PROBES_PER_SECOND);
    }
    const took = await Promise.all(probes);
    const { taken, seconds } = await loading;
    await watch.stop();
    const [p50, p99] = [quantile(took, 0.5), quantile(took, 0.99)];
    console.log(`From the answer of a beacon until GET /errors shows it, ${took.length} probes beside ${((taken * EVENTS) / seconds).toFixed(0)} events/s; ${machine()}\n`);
    console.log(table([["", "ms", "wanted"], ["p50", p50.toFixed(0), wanted("freshness/p50")], ["p99", p99.toFixed(0), wanted("freshness/p99")], ["slowest", quantile(took, 1).toFixed(0), ""]]));
    return [judge("freshness/p50", p50), judge("freshness/p99", p99)].every(Boolean);
  } finally {
    await pipeline.stop();
  }
}

process.exitCode = (await main()) ? 0 : 1;
