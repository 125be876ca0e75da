/**
 * One side of a comparison of `growth.ts`, in a process of its own, so that its servers can be told from those of the others.
 * Started with its form as JSON; is asked and answers over the channel, and ends its servers when that closes.
 */
import { mkdirSync } from "node:fs";
import { setTimeout as wait } from "node:timers/promises";
import { openClickHouse } from "../platform/clickhouse/client.ts";
import { makeLog } from "../platform/log.ts";
import { openDatabase } from "../platform/postgres/database.ts";
import { load, type Load } from "./edge-load.ts";
import type { Answer, Ask, Form } from "./growth-form.ts";
import { errorRequests, makeKnownErrors } from "./known-errors.ts";
import { quantile } from "./measuring.ts";
import { startPipeline, type Pipeline } from "./pipeline-stage.ts";
import { pushRequests } from "./push-requests.ts";
import { storeData, untilMerged, type StoredData } from "./stored-data.ts";
import { storedRequests, timed, type Timed } from "./stored-requests.ts";

const EVENTS_A_REQUEST = 10;
/** A push is answered with its evaluation, so it holds its connection for longer. */
const CONNECTIONS = { errors: 64, pushes: 1_024 };
const DRAIN_MS = 300_000;
const MERGING_MS = 600_000;
/** The lag is told once a second. */
const LOOK_MS = 1_200;
const STORED = { signatures: 20_000, days: 90 };
/** Of what is stored beside events, for each of which: samples, results of checks, pings. */
const HISTORY_SHARE = 0.2;

interface Side {
  pipeline: Pipeline;
  stored: StoredData | null;
  requests: Buffer[];
  change: Load["change"];
  /** CPU-µs a second that edges of their own take at rest, once that was asked for. */
  restOfEdges: number;
}

async function start(form: Form): Promise<Side> {
  if (form.storedFolder !== "") mkdirSync(form.storedFolder, { recursive: true });
  const unlimited = { ERROR_SIGNATURES_PER_DAY: "0", METRICS_WAIT_MS: "60000" };
  const pipeline = await startPipeline({ edges: form.edges, services: form.services - 1, settings: { LOG_PARTITIONS: String(form.partitions), ...unlimited }, ...(form.storedFolder !== "" && { storesFolder: form.storedFolder }) });
  const { databaseUrl, beaconKey, organizationId, serviceIds } = pipeline;
  const stored = form.events > 0 ? await store(pipeline, form) : null;
  if (form.load === "pushes") return { pipeline, stored, requests: pushRequests(pipeline), change: undefined, restOfEdges: 0 };
  await makeKnownErrors(databaseUrl, { organizationId, serviceId: serviceIds[0]!, signatures: form.signatures });
  return { pipeline, stored, ...errorRequests({ beaconKey, events: EVENTS_A_REQUEST, requests: 2_000, signatures: form.signatures }), restOfEdges: 0 };
}

async function store({ databaseUrl, clickhouseUrl }: Pipeline, { events, storedFolder }: Form): Promise<StoredData> {
  const log = makeLog("warn");
  const [database, clickhouse] = [openDatabase(databaseUrl, 2, log), openClickHouse(clickhouseUrl, log)];
  const stored = await storeData({ database, clickhouse }, storedFolder, { ...STORED, events, history: Math.round(events * HISTORY_SHARE), now: Date.now() });
  await untilMerged(clickhouse, MERGING_MS);
  await Promise.all([database.$client.end(), clickhouse.close()]);
  return stored;
}

/** Sends to all edges, each its part of the rate; what stands in the log is part of the cost, so it ends when nothing waits there. */
async function round({ pipeline, requests, change, restOfEdges }: Side, form: Form, { seconds, perSecond }: Extract<Ask, { kind: "round" }>): Promise<Answer> {
  const errors = form.load === "errors";
  const [countedBefore, before, began] = [errors ? await pipeline.counted() : 0, pipeline.cpu(), performance.now()];
  const lags: number[] = [];
  // A look that fails tells nothing; a server that is gone is noticed by the requests.
  const watching = setInterval(() => void pipeline.lag().then((lag) => lags.push(lag), () => undefined), LOOK_MS);
  const { edgePorts } = pipeline;
  const requestsPerSecond = perSecond / (errors ? EVENTS_A_REQUEST : 1) / edgePorts.length;
  const sent = await Promise.all(
    edgePorts.map((port, edge) => {
      // Each edge has requests of its own: they are written to while they are sent.
      const own = requests.filter((_, number) => number % edgePorts.length === edge);
      const changeOwn: Load["change"] = change && ((request, at) => change(request, at * edgePorts.length + edge));
      return load({ port, connections: Math.ceil(CONNECTIONS[form.load] / edgePorts.length), requests: own, ms: seconds * 1_000, perSecond: requestsPerSecond, ...(changeOwn && { change: changeOwn }) });
    }),
  );
  clearInterval(watching);
  const [taken, refused] = [sum(sent.map((each) => each.taken)), sum(sent.map((each) => each.refused))];
  if (refused > 0) throw new Error(`${refused} requests were refused beside ${taken} that were taken.`);
  await untilDone(pipeline);
  const after = pipeline.cpu();
  // How many edges there are is not a matter of how much comes: what each takes without any event is told apart.
  const rested = (restOfEdges * (performance.now() - began)) / 1_000;
  const events = taken * (errors ? EVENTS_A_REQUEST : 1);
  if (events < 0.95 * seconds * perSecond) throw new Error(`Of ${seconds * perSecond} events only ${events} could be sent: the rate is more than this machine carries.`);
  const counted = errors ? (await pipeline.counted()) - countedBefore : events;
  if (counted !== events) throw new Error(`${events} events were taken and ${counted} counted.`);
  return { kind: "round", costs: [...after].map(([name, cpu]) => [name, (cpu - before.get(name)! - (name === "edges" ? rested : 0)) / events]), lag: quantile(lags, 1) || 0 };
}

async function untilDone(pipeline: Pipeline): Promise<void> {
  const deadline = performance.now() + DRAIN_MS;
  for (let nothing = 0; nothing < 2; await wait(LOOK_MS)) {
    nothing = (await pipeline.lag()) === 0 ? nothing + 1 : 0;
    if (performance.now() > deadline) throw new Error(`Events still wait ${DRAIN_MS / 1_000} s after the load.`);
  }
}

/** From then on rounds leave out what edges take at rest. */
async function rest(side: Side, { seconds }: Extract<Ask, { kind: "rest" }>): Promise<Answer> {
  const before = side.pipeline.cpu();
  await wait(seconds * 1_000);
  const costs = [...side.pipeline.cpu()].map(([name, cpu]): [string, number] => [name, (cpu - before.get(name)!) / 1_000 / seconds]);
  side.restOfEdges = (new Map(costs).get("edges") ?? 0) * 1_000;
  return { kind: "rest", costs };
}

async function read({ pipeline, stored }: Side, { calls }: Extract<Ask, { kind: "read" }>): Promise<Answer> {
  if (stored === null) throw new Error("Nothing is stored here.");
  const base = `${pipeline.base}/api/v1`;
  const page = JSON.parse((await timed(`${base}/errors?limit=100&environment=production`, stored.apiKey)).text) as { errors: { id: string; occurrences: number }[] };
  const largest = page.errors.toSorted((left, right) => right.occurrences - left.occurrences)[0]!.id;
  const times: Extract<Answer, { kind: "read" }>["times"] = [];
  for (const { name, path, kind } of storedRequests(stored, largest)) {
    const runs: Timed[] = [];
    // The first ones warm up.
    for (let call = -2; call < calls; call++) {
      const run = await timed(base + path, stored.apiKey, { onlyFirst: kind === "export" });
      if (call >= 0) runs.push(run);
    }
    const whole = runs.map((run) => run.whole);
    times.push({ name, kind, p50: quantile(whole, 0.5), p99: quantile(whole, 0.99), first: quantile(runs.map((run) => run.first), 0.99) });
  }
  return { kind: "read", times };
}

function sum(values: number[]): number {
  return values.reduce((total, each) => total + each, 0);
}

function answer(side: Side, form: Form, ask: Ask): Promise<Answer> {
  if (ask.kind === "round") return round(side, form, ask);
  if (ask.kind === "rest") return rest(side, ask);
  if (ask.kind === "read") return read(side, ask);
  throw new Error("This is no question.");
}

const tell = (told: Answer): void => void process.send!(told);
const failed = (error: unknown): Answer => ({ kind: "failed", reason: error instanceof Error ? (error.stack ?? error.message) : String(error) });

const form = JSON.parse(process.argv[2]!) as Form;
const side = await start(form).catch((error: unknown) => {
  process.send!(failed(error), () => process.exit(1));
  throw error;
});
process.on("message", (ask: Ask) => {
  if (ask.kind === "stop") process.disconnect();
  else answer(side, form, ask).then(tell, (error: unknown) => tell(failed(error)));
});
process.once("uncaughtException", (error) => process.send!(failed(error), () => process.disconnect()));
process.once("disconnect", () => void side.pipeline.stop().then(() => process.exit(0)));
tell({ kind: "ready" });
