import { join } from "node:path";
import { newId } from "../platform/ids.ts";
import { PROJECT_ROOT } from "../platform/root.ts";
import { buildService } from "../testing/service-process.ts";
import { httpRequest } from "./edge-load.ts";
import { startEdgeStores } from "./edge-stores.ts";
import { judge, wanted, type GoalName } from "./goals.ts";
import { machine, median, option } from "./measuring.ts";
import { endServer, measureRequests, startBare, startServer, type RequestCost, type Server } from "./servers.ts";

/**
 * Measures what the edge alone costs for one beacon and one ping, durable in a real Kafka (acks=all), beside a bare
 * uWebSockets.js that reads the same body and answers: CPU-µs (user + system of the whole process) an event, in turns.
 *
 *   PHAROS_TEST_KAFKA_LIBS=… npx tsx bench/edge.ts [--pairs 5] [--seconds 5] [--connections 512] [--only beacon|heartbeat] [--profile folder]
 *
 * `--profile` leaves a V8 CPU profile of the edge in the folder. Prints a table; exits 1 when a goal is missed.
 */
const PAIRS = Number(option("pairs", "5"));
const SECONDS = Number(option("seconds", "5"));
const CONNECTIONS = Number(option("connections", "512"));
const PROFILE = option("profile", "");
const SENDERS = 2_000;
/** About what an edge waits for its log under this load. */
const LATE_MS = 10;
/** What does not count: code that is not compiled yet, connections that are not open. */
const WARM_SECONDS = 10;

function beacons(key: string): Buffer[] {
  const stack = ["TypeError: Cannot read properties of undefined (reading 'total')", "    at renderCart (https://shop.example/assets/app-4f2a91c7.js:1:48211)", "    at Cart.update (https://shop.example/assets/app-4f2a91c7.js:1:50377)", "    at HTMLButtonElement.<anonymous> (https://shop.example/assets/app-4f2a91c7.js:1:61002)"].join("\n");
  return Array.from({ length: SENDERS }, (_, number) => {
    const event = { type: "error", event_id: newId(), timestamp: new Date().toISOString(), error_type: "TypeError", message: "Cannot read properties of undefined (reading 'total')", stack, url: `https://shop.example/cart?step=${number % 7}`, handled: false, level: "error" };
    const body = { key, release: "2026.11.3", environment: "production", session_id: `s-${number}`, user: { id: `u-${number % 911}` }, events: [event] };
    return httpRequest("/api/beacon", { "Content-Type": "application/json", Origin: "https://shop.example" }, JSON.stringify(body));
  });
}

function pings(apiKey: string): Buffer[] {
  return Array.from({ length: SENDERS }, (_, number) => httpRequest(`/api/heartbeat/job-${number}`, { "X-API-Key": apiKey }, ""));
}

interface Compared {
  edge: Server;
  bare: Server;
  /** Bare too, but it answers as late as an edge does whose log takes this long. */
  late: Server;
}

async function compare(goal: GoalName, { edge, bare, late }: Compared, requests: Buffer[]): Promise<boolean> {
  const measure = (server: Server, seconds: number) => measureRequests(server, { requests, connections: CONNECTIONS, seconds });
  for (const server of [edge, bare, late]) await measure(server, WARM_SECONDS);
  const ours: RequestCost[] = [];
  const theirs: RequestCost[] = [];
  const latest: RequestCost[] = [];
  for (let pair = 0; pair < PAIRS; pair++) {
    ours.push(await measure(edge, SECONDS));
    theirs.push(await measure(bare, SECONDS));
    latest.push(await measure(late, SECONDS));
  }
  const [cpu, bareCpu, lateCpu] = [ours, theirs, latest].map((figures) => median(figures.map(({ cpuUs }) => cpuUs))) as [number, number, number];
  const share = 100 * median(ours.map(({ cpuUs }, pair) => theirs[pair]!.cpuUs / cpuUs));
  const spread = `${Math.min(...ours.map(({ cpuUs }) => cpuUs)).toFixed(1)}–${Math.max(...ours.map(({ cpuUs }) => cpuUs)).toFixed(1)}`;
  console.log(`| ${goal.split("/")[1]} | ${cpu.toFixed(1)} (${spread}) | ${bareCpu.toFixed(1)} | ${lateCpu.toFixed(1)} | ${share.toFixed(0)} % | ${wanted(goal)} | ${median(ours.map(({ perSecond }) => perSecond)).toFixed(0)}/s |`);
  return judge(goal, share);
}

async function main(): Promise<boolean> {
  await buildService();
  const servers: Server[] = [];
  const stores = await startEdgeStores({ monitors: SENDERS });
  try {
    const noLimits = { RATE_LIMIT_HEARTBEAT_MONITOR: "0", RATE_LIMIT_HEARTBEAT_KEY: "0", RATE_LIMIT_ANONYMOUS: "0" };
    const settings = { ...stores.environment, ...noLimits, PHAROS_ROLES: "edge", EDGE_PORT: "0", LOG_LEVEL: "warn", NODE_ENV: "production" };
    const profiling = PROFILE ? ["--cpu-prof", "--cpu-prof-interval", "500", "--cpu-prof-dir", PROFILE] : [];
    const edge = await startServer([...profiling, join(PROJECT_ROOT, "dist/main.js")], settings, /Fast ingest\s+http:\/\/localhost:(\d+)/);
    servers.push(edge);
    const bare = await startBare();
    servers.push(bare);
    const late = await startBare({ answerAfterMs: LATE_MS });
    servers.push(late);
    const compared = { edge, bare, late };
    const { beaconKey, apiKey } = stores.organization;
    const bodyBytes = beacons(beaconKey)[0]!.toString().split("\r\n\r\n")[1]!.length;
    console.log(`CPU-µs an event, median of ${PAIRS} pairs of ${SECONDS} s, ${CONNECTIONS} connections, body of a beacon ${bodyBytes} bytes; ${machine()}\n`);
    console.log(`| work | edge (spread) | bare uWebSockets.js | the same, answering ${LATE_MS} ms later | share of bare | goal | rate |\n| --- | --- | --- | --- | --- | --- | --- |`);
    const only = option("only", "");
    const beacon = only === "heartbeat" || (await compare("edge/beacon", compared, beacons(beaconKey)));
    const heartbeat = only === "beacon" || (await compare("edge/heartbeat", compared, pings(apiKey)));
    return beacon && heartbeat;
  } finally {
    for (const server of servers) await endServer(server);
    await stores.stop();
  }
}

process.exitCode = (await main()) ? 0 : 1;
