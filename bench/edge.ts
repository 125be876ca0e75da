import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { newId } from "../platform/ids.ts";
import { PROJECT_ROOT } from "../platform/root.ts";
import { buildService } from "../testing/service-process.ts";
import { httpRequest, load } from "./edge-load.ts";
import { startEdgeStores } from "./edge-stores.ts";
import { cpuOf, machine, median, option } from "./measuring.ts";

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

interface Server {
  child: ChildProcess;
  port: number;
}

async function startServer(args: string[], environment: Record<string, string>, ready: RegExp): Promise<Server> {
  const child = spawn(process.execPath, args, { cwd: PROJECT_ROOT, env: { ...process.env, ...environment }, stdio: ["ignore", "pipe", "inherit"] });
  let output = "";
  for await (const chunk of child.stdout.iterator({ destroyOnReturn: false })) {
    output += String(chunk);
    if (ready.test(output)) break;
  }
  child.stdout.resume();
  const port = Number(ready.exec(output)?.[1]);
  if (!port) throw new Error(`A server ended before it was ready:\n${output}`);
  return { child, port };
}

async function end({ child }: Server): Promise<void> {
  child.kill("SIGTERM");
  if (child.exitCode === null) await once(child, "exit");
}

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

interface Figure {
  cpu: number;
  perSecond: number;
}

async function measure(server: Server, requests: Buffer[], seconds: number): Promise<Figure> {
  const before = cpuOf(server.child.pid!);
  const { taken, refused, seconds: took } = await load({ port: server.port, connections: CONNECTIONS, requests, ms: seconds * 1_000 });
  if (refused > 0) throw new Error(`${refused} requests were refused beside ${taken} that were taken`);
  return { cpu: (cpuOf(server.child.pid!) - before) / taken, perSecond: taken / took };
}

async function compare(work: string, edge: Server, bare: Server, requests: Buffer[], goal: number): Promise<boolean> {
  for (const server of [edge, bare]) await measure(server, requests, 3);
  const ours: Figure[] = [];
  const theirs: Figure[] = [];
  for (let pair = 0; pair < PAIRS; pair++) {
    ours.push(await measure(edge, requests, SECONDS));
    theirs.push(await measure(bare, requests, SECONDS));
  }
  const [cpu, bareCpu] = [ours, theirs].map((figures) => median(figures.map((figure) => figure.cpu))) as [number, number];
  const share = median(ours.map((figure, pair) => theirs[pair]!.cpu / figure.cpu));
  const spread = `${Math.min(...ours.map((figure) => figure.cpu)).toFixed(1)}–${Math.max(...ours.map((figure) => figure.cpu)).toFixed(1)}`;
  console.log(`| ${work} | ${cpu.toFixed(1)} (${spread}) | ${bareCpu.toFixed(1)} | ${(share * 100).toFixed(0)} % | ${goal * 100} % | ${median(ours.map((figure) => figure.perSecond)).toFixed(0)}/s |`);
  return share >= goal;
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
    const bare = await startServer([join(PROJECT_ROOT, "dist/bench/bare-edge.js")], { ANSWER: '{"success":true,"accepted":1,"rejected":[]}' }, /port (\d+)/);
    servers.push(bare);
    const { beaconKey, apiKey } = stores.organization;
    const bodyBytes = beacons(beaconKey)[0]!.toString().split("\r\n\r\n")[1]!.length;
    console.log(`CPU-µs an event, median of ${PAIRS} pairs of ${SECONDS} s, ${CONNECTIONS} connections, body of a beacon ${bodyBytes} bytes; ${machine()}\n`);
    console.log("| work | edge (spread) | bare uWebSockets.js | share of bare | goal | rate |\n| --- | --- | --- | --- | --- | --- |");
    const only = option("only", "");
    const beacon = only === "heartbeat" || (await compare("beacon", edge, bare, beacons(beaconKey), 0.6));
    const heartbeat = only === "beacon" || (await compare("heartbeat", edge, bare, pings(apiKey), 0.75));
    return beacon && heartbeat;
  } finally {
    for (const server of servers) await end(server);
    await stores.stop();
  }
}

process.exitCode = (await main()) ? 0 : 1;
