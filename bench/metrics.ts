import { load } from "./edge-load.ts";
import { judge, wanted } from "./goals.ts";
import { machine, median, option, quantile, table } from "./measuring.ts";
import { startPipeline, type Pipeline } from "./pipeline-stage.ts";
import { pushBody, pushRequests } from "./push-requests.ts";

/**
 * Row 10 of the goals: pushes of metrics over 2,000 services that are answered with their evaluation, through a real Kafka and back. First one
 * after the other for the time of an answer, beside `Prefer: respond-async`, which does not wait for it, in turns; then as fast as it goes.
 *
 *   PHAROS_TEST_KAFKA_LIBS=… npx tsx bench/metrics.ts [--pairs 5] [--seconds 5] [--connections 512]
 *
 * Exits 1 when a goal is missed. The goal of the embedded log is not measured here.
 */
const PAIRS = Number(option("pairs", "5"));
const SECONDS = Number(option("seconds", "5"));
const CONNECTIONS = Number(option("connections", "512"));
const SERVICES = 2_000;

/** ms of each answer, one request at a time. */
async function answerTimes({ edgePort, apiKey, serviceIds }: Pipeline, headers: Record<string, string>, expected: number): Promise<number[]> {
  const took: number[] = [];
  const until = performance.now() + SECONDS * 1_000;
  for (let number = 0; performance.now() < until; number++) {
    const serviceId = serviceIds[number % serviceIds.length]!;
    const began = performance.now();
    const answer = await fetch(`http://127.0.0.1:${edgePort}/api/metrics/ingest`, { method: "POST", headers: { "X-API-Key": apiKey, ...headers }, body: pushBody(serviceId, number) });
    await answer.arrayBuffer();
    if (answer.status !== expected) throw new Error(`A push was answered ${answer.status} in place of ${expected}.`);
    took.push(performance.now() - began);
  }
  return took;
}

async function main(): Promise<boolean> {
  const pipeline = await startPipeline({ services: SERVICES - 1, settings: { METRICS_WAIT_MS: "60000" } });
  try {
    const waiting = pushRequests(pipeline);
    await load({ port: pipeline.edgePort, connections: CONNECTIONS, requests: waiting, ms: Math.min(3, SECONDS) * 1_000 });
    const answered: number[][] = [];
    const detached: number[][] = [];
    const rates: number[] = [];
    const costs: Map<string, number>[] = [];
    for (let pair = 0; pair < PAIRS; pair++) {
      answered.push(await answerTimes(pipeline, {}, 200));
      detached.push(await answerTimes(pipeline, { Prefer: "respond-async" }, 202));
      const before = pipeline.cpu();
      const { taken, refused, seconds } = await load({ port: pipeline.edgePort, connections: CONNECTIONS, requests: waiting, ms: SECONDS * 1_000 });
      if (refused > 0) throw new Error(`${refused} pushes were refused beside ${taken} that were taken.`);
      rates.push(taken / seconds);
      costs.push(new Map([...pipeline.cpu()].map(([server, spent]) => [server, (spent - before.get(server)!) / taken])));
    }
    const p50 = (all: number[][]) => median(all.map((each) => quantile(each, 0.5)));
    const p99 = (all: number[][]) => median(all.map((each) => quantile(each, 0.99)));
    console.log(`Metrics pushes over ${pipeline.serviceIds.length} services, medians of ${PAIRS} pairs of ${SECONDS} s; ${machine()}\n`);
    console.log(
      table([
        ["figure", "with its evaluation", "respond-async", "wanted"],
        ["p50, one at a time", `${p50(answered).toFixed(1)} ms`, `${p50(detached).toFixed(1)} ms`, wanted("metrics/p50")],
        ["p99, one at a time", `${p99(answered).toFixed(1)} ms`, `${p99(detached).toFixed(1)} ms`, ""],
        [`rate over ${CONNECTIONS} connections`, `${median(rates).toFixed(0)}/s`, "", ""],
        ["CPU of all servers a push", `${median(costs.map(sum)).toFixed(1)} µs`, "", wanted("metrics/cpu")],
        ...[...costs[0]!.keys()].map((server) => [`of it ${server}`, `${median(costs.map((each) => each.get(server)!)).toFixed(1)} µs`, "", ""]),
      ]),
    );
    return [judge("metrics/p50", p50(answered)), judge("metrics/cpu", median(costs.map(sum)))].every(Boolean);
  } finally {
    await pipeline.stop();
  }
}

function sum(costs: Map<string, number>): number {
  return [...costs.values()].reduce((total, each) => total + each, 0);
}

process.exitCode = (await main()) ? 0 : 1;
