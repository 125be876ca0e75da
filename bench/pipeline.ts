import { setTimeout as wait } from "node:timers/promises";
import { httpRequest, load } from "./edge-load.ts";
import { beaconsOf } from "./bodies.ts";
import { judge, wanted } from "./goals.ts";
import { machine, median, option, quantile, table } from "./measuring.ts";
import { startPipeline, type Pipeline } from "./pipeline-stage.ts";
import { endServer, measureRequests, startBare, type Server } from "./servers.ts";

/**
 * Row 5 of the goals: the whole pipeline on a real Kafka, one process with every role, PostgreSQL and ClickHouse as servers of their own:
 * CPU-µs of every server process (broker and stores among them, the load generator not) for an error event that came in by HTTP and is
 * counted, and whether the lag grows. Bodies hold ten errors of eight frames each, over 5,000 signatures by Zipf's law. After each round a
 * bare uWebSockets.js takes the same bodies: machines differ by two and more, so costs are given in its requests, too.
 *
 *   PHAROS_TEST_KAFKA_LIBS=… npx tsx bench/pipeline.ts [--pairs 3] [--seconds 20] [--rate 0] [--connections 64]
 *
 * `--rate` is events a second; 0 sends as fast as answers come. Exits 1 when the goal is missed.
 */
const ROUNDS = Number(option("pairs", "3"));
const SECONDS = Number(option("seconds", "20"));
const RATE = Number(option("rate", "0"));
const CONNECTIONS = Number(option("connections", "64"));
const EVENTS = 10;
const DRAIN_MS = 300_000;
/** Until all signatures are there and code is compiled; does not count. */
const WARM_SECONDS = 10;
const BARE_SECONDS = 3;
const BARE_CONNECTIONS = 512;

interface Round {
  events: number;
  seconds: number;
  /** CPU-µs an event, by what the process does. */
  costs: Map<string, number>;
  lags: number[];
  /** CPU-µs of a bare POST of the same bodies, right after. */
  bareUs: number;
}

async function round(pipeline: Pipeline, bare: Server, requests: Buffer[], seconds: number): Promise<Round> {
  const countedBefore = await pipeline.counted();
  const before = pipeline.cpu();
  const lags: number[] = [];
  const watching = setInterval(() => void pipeline.lag().then((lag) => lags.push(lag)), 1_000);
  const { taken, refused, seconds: took } = await load({ port: pipeline.edgePort, connections: CONNECTIONS, requests, ms: seconds * 1_000, ...(RATE > 0 && { perSecond: RATE / EVENTS }) });
  clearInterval(watching);
  if (refused > 0) throw new Error(`${refused} requests were refused beside ${taken} that were taken.`);
  const events = taken * EVENTS;
  // What stands in the log is part of the cost.
  for (const deadline = performance.now() + DRAIN_MS; (await pipeline.counted()) < countedBefore + events; await wait(200)) {
    if (performance.now() > deadline) throw new Error(`${countedBefore + events - (await pipeline.counted())} events were not counted ${DRAIN_MS / 1_000} s after the load.`);
  }
  const after = pipeline.cpu();
  const { cpuUs: bareUs } = await measureRequests(bare, { requests, connections: BARE_CONNECTIONS, seconds: BARE_SECONDS });
  return { bareUs, events, seconds: took, costs: new Map([...after].map(([name, cpu]) => [name, (cpu - before.get(name)!) / events])), lags };
}

/** The later half of a round lags by more than the first and half as much again: the pipeline falls behind. */
function grows(lags: readonly number[]): boolean {
  const half = Math.floor(lags.length / 2);
  return lags.length >= 4 && median(lags.slice(half)) > 1.5 * median(lags.slice(0, half)) + 5_000;
}

async function main(): Promise<boolean> {
  const pipeline = await startPipeline();
  const bare = await startBare();
  try {
    const bodies = beaconsOf({ beaconKey: pipeline.beaconKey, events: EVENTS, requests: 2_000 });
    const requests = bodies.map((body) => httpRequest("/api/beacon", { "Content-Type": "application/json" }, body));
    await round(pipeline, bare, requests, Math.min(WARM_SECONDS, SECONDS));
    await pipeline.analyze();
    const rounds: Round[] = [];
    for (let number = 0; number < ROUNDS; number++) rounds.push(await round(pipeline, bare, requests, SECONDS));

    const sums = rounds.map(({ costs }) => [...costs.values()].reduce((sum, cost) => sum + cost, 0));
    console.log(`Whole pipeline, ${EVENTS} errors of ${Math.round(Buffer.byteLength(bodies[0]!) / EVENTS)} bytes and 8 frames a request, medians of ${ROUNDS} rounds of ${SECONDS} s; ${machine()}\n`);
    const bareUs = median(rounds.map((each) => each.bareUs));
    const lines = [...rounds[0]!.costs.keys()].map((name) => {
      const cost = median(rounds.map(({ costs }) => costs.get(name)!));
      return [name, cost.toFixed(1), (cost / bareUs).toFixed(2), ""];
    });
    const inBare = median(rounds.map((each, at) => sums[at]! / each.bareUs));
    const reached = [judge("pipeline/bare", inBare)];
    console.log(table([["process", "CPU-µs an event", `bare POSTs (${bareUs.toFixed(1)} µs)`, "wanted"], ...lines, ["all", `${median(sums).toFixed(1)} (${Math.min(...sums).toFixed(1)}–${Math.max(...sums).toFixed(1)})`, inBare.toFixed(2), wanted("pipeline/bare")]]));
    const lag = rounds.map(({ lags }) => quantile(lags, 1));
    const growing = rounds.filter(({ lags }) => grows(lags)).length;
    console.log(`\n${median(rounds.map(({ events, seconds }) => events / seconds)).toFixed(0)} events/s taken beside the load generator; most events waiting ${Math.max(...lag)}; the lag grew in ${growing} of ${ROUNDS} rounds.`);
    reached.push(judge("pipeline/lag", growing));
    return reached.every(Boolean);
  } finally {
    await endServer(bare);
    await pipeline.stop();
  }
}

process.exitCode = (await main()) ? 0 : 1;
