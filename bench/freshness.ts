import { setTimeout as wait } from "node:timers/promises";
import { httpRequest, load } from "./edge-load.ts";
import { beaconsOf } from "./bodies.ts";
import { machine, option, quantile, table } from "./measuring.ts";
import { startPipeline, type Pipeline } from "./pipeline-stage.ts";

/**
 * Row 4 of the goals: how long after its 202 an error stands in GET /errors, while the pipeline carries half of what it can. Probes of an
 * error of their own come beside the load; each is looked for every 10 ms.
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
const NOTICE_MS = 8_000;
const EVENTS = 10;
const PROBES_PER_SECOND = 4;
const MOST_MS = { p50: 300, p99: 1_000 };
const GIVE_UP_MS = 30_000;

/** Events a second that the whole pipeline carries: taken and counted, not only taken. */
async function saturation({ edgePort, counted }: Pipeline, requests: Buffer[]): Promise<number> {
  const before = await counted();
  const began = performance.now();
  const { taken } = await load({ port: edgePort, connections: CONNECTIONS, requests, ms: Math.min(10, SECONDS) * 1_000 });
  while ((await counted()) < before + taken * EVENTS) await wait(50);
  return (taken * EVENTS * 1_000) / (performance.now() - began);
}

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

/** ms from the answer of an error until GET /errors shows it; Infinity when it never does. */
async function probe({ base, edgePort }: Pipeline, { apiKey, beaconKey, serviceId }: Probed, number: number): Promise<number> {
  const name = `Probe${process.pid}x${number}`;
  const body = JSON.stringify({ key: beaconKey, session_id: `probe-${number}`, events: [{ type: "error", error_type: name, message: name }] });
  const answer = await fetch(`http://127.0.0.1:${edgePort}/api/beacon`, { method: "POST", body });
  await answer.arrayBuffer();
  if (answer.status !== 202) throw new Error(`A probe was answered ${answer.status}.`);
  const began = performance.now();
  while (performance.now() - began < GIVE_UP_MS) {
    const list = await fetch(`${base}/api/v1/errors?service_id=${serviceId}&limit=100`, { headers: { "X-API-Key": apiKey } });
    const { errors } = (await list.json()) as { errors?: { message: string }[] };
    if (errors === undefined) throw new Error(`GET /errors answered ${list.status}.`);
    if (errors.some(({ message }) => message === name)) return performance.now() - began;
    await wait(10);
  }
  return Infinity;
}

/** One that is alone floods nobody: the other organization sends a little too, until the flood must have been noticed. */
async function beQuietBeside({ edgePort }: Pipeline, { beaconKey }: Probed): Promise<void> {
  const body = JSON.stringify({ key: beaconKey, events: [{ type: "message", message: "quiet" }] });
  for (const until = performance.now() + NOTICE_MS; performance.now() < until; await wait(200)) {
    await (await fetch(`http://127.0.0.1:${edgePort}/api/beacon`, { method: "POST", body })).arrayBuffer();
  }
}

async function main(): Promise<boolean> {
  const pipeline = await startPipeline();
  try {
    const requests = beaconsOf({ beaconKey: pipeline.beaconKey, events: EVENTS, requests: 2_000 }).map((body) => httpRequest("/api/beacon", { "Content-Type": "application/json" }, body));
    const probed = FLOOD ? await pipeline.createOrganization("Calm") : await makeService(pipeline);
    const rate = RATE || (FLOOD ? 0 : (await saturation(pipeline, requests)) / 2);
    const loading = load({ port: pipeline.edgePort, connections: CONNECTIONS, requests, ms: SECONDS * 1_000 + (FLOOD ? NOTICE_MS : 0), ...(rate > 0 && { perSecond: rate / EVENTS }) });
    if (FLOOD) await beQuietBeside(pipeline, probed);
    const probes: Promise<number>[] = [];
    for (let number = 0; number < SECONDS * PROBES_PER_SECOND; number++) {
      probes.push(probe(pipeline, probed, number));
      await wait(1_000 / PROBES_PER_SECOND);
    }
    const took = await Promise.all(probes);
    const { taken, seconds } = await loading;
    const [p50, p99] = [quantile(took, 0.5), quantile(took, 0.99)];
    console.log(`From the answer of a beacon until GET /errors shows it, ${took.length} probes beside ${((taken * EVENTS) / seconds).toFixed(0)} events/s; ${machine()}\n`);
    console.log(table([["", "ms", "wanted"], ["p50", p50.toFixed(0), `≤ ${MOST_MS.p50}`], ["p99", p99.toFixed(0), `≤ ${MOST_MS.p99}`], ["slowest", quantile(took, 1).toFixed(0), ""]]));
    return p50 <= MOST_MS.p50 && p99 <= MOST_MS.p99;
  } finally {
    await pipeline.stop();
  }
}

process.exitCode = (await main()) ? 0 : 1;
