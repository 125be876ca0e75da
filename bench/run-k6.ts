import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { promisify } from "node:util";
import { LOADER_ARGUMENTS, PROJECT_ROOT } from "../platform/root.ts";
import { machine, option, table } from "./measuring.ts";
import { startPipeline, type Pipeline } from "./pipeline-stage.ts";

/**
 * Runs the k6 scripts of the ingest endpoints against every role in one process on a real Kafka: each request beside the same one to a bare
 * uWebSockets.js that answers at once, so that what is judged is a ratio of the same moment. k6 takes most of the machine itself: for what the
 * edge costs see bench/edge.ts. Needs k6 on the PATH.
 *
 *   PHAROS_TEST_KAFKA_LIBS=… npx tsx bench/run-k6.ts [--seconds 10] [--connections 16] [--most-times 10]
 *
 * Exits 1 when a request was refused or a ratio is missed.
 */
const SECONDS = option("seconds", "10");
const CONNECTIONS = option("connections", "16");
const MOST_TIMES = option("most-times", "10");
const MONITORS = 2_000;
const SERVICES = 200;
/** What k6 exits with when a threshold was missed. */
const THRESHOLD_MISSED = 99;

interface Figures {
  work: string;
  pairs: number;
  p50: number;
  p99: number;
  bareP50: number;
  bareP99: number;
  ratio: number;
  mostTimes: number;
  taken: number;
}

async function runScript(name: string, { edgePort, apiKey, beaconKey, serviceIds }: Pipeline, barePort: number): Promise<Figures> {
  const environment = { BASE: `http://127.0.0.1:${edgePort}`, BARE: `http://127.0.0.1:${barePort}`, API_KEY: apiKey, BEACON_KEY: beaconKey, MONITORS, SERVICES: serviceIds.join(","), DURATION: `${SECONDS}s`, VUS: CONNECTIONS, MOST_TIMES };
  const variables = Object.entries(environment).flatMap(([key, value]) => ["-e", `${key}=${value}`]);
  const { stdout } = await promisify(execFile)("k6", ["run", "--quiet", ...variables, join(PROJECT_ROOT, "bench", `${name}.js`)]).catch((error: { code?: number; stdout?: string }) => {
    if (error.code === THRESHOLD_MISSED && error.stdout) return { stdout: error.stdout };
    throw error;
  });
  return JSON.parse(stdout.slice(stdout.indexOf("{"))) as Figures;
}

async function main(): Promise<boolean> {
  const pipeline = await startPipeline({ monitors: MONITORS, services: SERVICES, settings: { METRICS_WAIT_MS: "60000" } });
  const bare = spawn(process.execPath, [...LOADER_ARGUMENTS, join(PROJECT_ROOT, "bench/bare-edge.ts")], { cwd: PROJECT_ROOT, stdio: ["ignore", "pipe", "inherit"] });
  try {
    const [printed] = (await once(bare.stdout, "data")) as [Buffer];
    const barePort = Number(/port (\d+)/.exec(printed.toString())![1]);
    const all: Figures[] = [];
    for (const name of ["beacon", "heartbeat", "metrics"]) all.push(await runScript(name, pipeline, barePort));
    console.log(`k6, ${CONNECTIONS} connections for ${SECONDS} s each, every request beside one to a bare server; ${machine()}\n`);
    const rows = all.map(({ work, pairs, p50, p99, bareP50, bareP99, ratio, mostTimes, taken }) => [work, pairs, `${p50.toFixed(1)} ms`, `${bareP50.toFixed(1)} ms`, `${p99.toFixed(1)} ms`, `${bareP99.toFixed(1)} ms`, ratio.toFixed(1), `≤ ${mostTimes}`, `${(taken * 100).toFixed(2)} %`]);
    console.log(table([["work", "pairs", "p50", "bare p50", "p99", "bare p99", "median ratio", "wanted", "taken"], ...rows]));
    return all.every(({ ratio, mostTimes, taken }) => taken === 1 && ratio <= mostTimes);
  } finally {
    bare.kill("SIGTERM");
    if (bare.exitCode === null) await once(bare, "exit");
    await pipeline.stop();
  }
}

process.exitCode = (await main()) ? 0 : 1;
