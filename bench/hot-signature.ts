import { setTimeout as wait } from "node:timers/promises";
import { openDatabase } from "../platform/postgres/database.ts";
import { makeLog } from "../platform/log.ts";
import { beaconsOf } from "./bodies.ts";
import { httpRequest, load } from "./edge-load.ts";
import { judge, wanted } from "./goals.ts";
import { machine, option, quantile, table } from "./measuring.ts";
import { startPipeline, type Pipeline } from "./pipeline-stage.ts";

/**
 * One signature that gets 10,000 events a second, on a real Kafka, by one processor and by two: what an event costs all
 * servers, how many wait at most, and how many of PostgreSQL's updates touched no index (`pg_stat_user_tables`).
 *
 *   PHAROS_TEST_KAFKA_LIBS=… npx tsx bench/hot-signature.ts [--seconds 30] [--rate 10000] [--connections 64]
 *
 * Exits 1 when more than a second's events wait for two processors, or the count is wrong.
 */
const SECONDS = Number(option("seconds", "30"));
const RATE = Number(option("rate", "10000"));
const CONNECTIONS = Number(option("connections", "64"));
const EVENTS = 10;
const WARM_SECONDS = 10;
const LOOK_MS = 250;
const GIVE_UP_MS = 60_000;

interface Measured {
  cpu: [string, number][];
  /** Events taken in and not yet counted. */
  waiting: number[];
  updates: Map<string, { all: number; hot: number }>;
}

async function readUpdates(url: string): Promise<Measured["updates"]> {
  const database = openDatabase(url, 1, makeLog("silent"));
  // A backend tells of its updates a second later at the latest.
  await wait(2_000);
  const { rows } = await database.$client.query<{ name: string; all: string; hot: string }>(
    "select relname as name, n_tup_upd as all, n_tup_hot_upd as hot from pg_stat_user_tables where n_tup_upd > 0",
  );
  await database.$client.end();
  return new Map(rows.map(({ name, all, hot }) => [name, { all: Number(all), hot: Number(hot) }]));
}

async function sendAll(pipeline: Pipeline, seconds: number): Promise<number[]> {
  const bodies = beaconsOf({ beaconKey: pipeline.beaconKey, events: EVENTS, requests: 2_000, signatures: 1 });
  const requests = bodies.map((body) => httpRequest("/api/beacon", { "Content-Type": "application/json" }, body));
  const before = await pipeline.counted();
  let taken = 0;
  const waiting: number[] = [];
  const left = async () => before + taken * EVENTS - (await pipeline.counted());
  const watching = setInterval(() => void left().then((events) => waiting.push(events)), LOOK_MS);
  const sent = await load({ port: pipeline.edgePort, connections: CONNECTIONS, requests, ms: seconds * 1_000, perSecond: RATE / EVENTS, onTaken: () => taken++ });
  clearInterval(watching);
  if (sent.refused > 0) throw new Error(`${sent.refused} requests were refused.`);
  for (const deadline = performance.now() + GIVE_UP_MS; (await left()) !== 0; await wait(LOOK_MS)) {
    if (performance.now() > deadline) throw new Error(`${await left()} events are missing in the count.`);
  }
  return waiting;
}

async function measure(processors: number): Promise<Measured> {
  const pipeline = await startPipeline({ processors: processors - 1, settings: { ERROR_SIGNATURES_PER_DAY: "0" } });
  try {
    await sendAll(pipeline, WARM_SECONDS);
    await pipeline.analyze();
    const [cpuBefore, updatesBefore] = [pipeline.cpu(), await readUpdates(pipeline.databaseUrl)];
    const waiting = await sendAll(pipeline, SECONDS);
    const events = SECONDS * RATE;
    const cpu = [...pipeline.cpu()].map(([name, us]): [string, number] => [name, (us - cpuBefore.get(name)!) / events]);
    const after = await readUpdates(pipeline.databaseUrl);
    const updates = new Map([...after].map(([name, { all, hot }]) => [name, { all: all - (updatesBefore.get(name)?.all ?? 0), hot: hot - (updatesBefore.get(name)?.hot ?? 0) }]));
    return { cpu, waiting, updates };
  } finally {
    await pipeline.stop();
  }
}

async function main(): Promise<boolean> {
  const [one, two] = [await measure(1), await measure(2)];
  console.log(`One signature, ${RATE} events a second for ${SECONDS} s; ${machine()}\n`);
  const row = (name: string, { cpu, waiting }: Measured): string[] => [
    name,
    cpu.reduce((sum, [, us]) => sum + us, 0).toFixed(1),
    cpu.map(([part, us]) => `${part} ${us.toFixed(1)}`).join(", "),
    quantile(waiting, 0.5).toFixed(0),
    Math.max(...waiting).toFixed(0),
  ];
  console.log(table([["processors", "CPU-µs an event", "of which", "waiting, p50", "most"], row("1", one), row("2", two)]));
  console.log(`\nUpdates in PostgreSQL while two ran:\n`);
  const changed = [...two.updates].filter(([, { all }]) => all > 0).toSorted(([, left], [, right]) => right.all - left.all);
  console.log(table([["table", "updates", "of which touched no index"], ...changed.map(([name, { all, hot }]) => [name, String(all), `${((100 * hot) / all).toFixed(0)} %`])]));
  console.log(`\nAt most ${wanted("hot-signature").slice(2)} may wait.`);
  return judge("hot-signature", Math.max(...two.waiting));
}

process.exitCode = (await main()) ? 0 : 1;
