import { execFile, spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { request } from "undici";
import { LOADER_ARGUMENTS, PROJECT_ROOT } from "../platform/root.ts";
import type { SameAnswer } from "./bare-api.ts";
import { judge, wanted, type GoalName } from "./goals.ts";
import { cpuOfFamily, machine, median, option, table } from "./measuring.ts";

/**
 * Measures the REST API beside a bare Fastify that answers the same bytes, in turns, five pairs, medians: lists at 1,000 requests a second
 * and POST /incidents at 500 for their latency, then as many as go through. The share of bare is by the CPU of the server's processes: by
 * requests a second it looks better than it is, because k6 takes its part of the same cores on both sides.
 * Needs k6 on the PATH: `npm run build && npx tsx bench/run-api.ts [--pairs 5] [--works services,incidents,page,create]`. Prints a table; exits 1
 * when a figure is not reached. What is measured is the built service, as people run it.
 */
const PAIRS = Number(option("pairs", "5"));
/** Such as `services,incidents`; create comes last, because it changes what the lists hold. */
const NAMES = option("works", "services,incidents,page,create").split(",");
const INCIDENTS = 50;

interface Figures {
  perSecond: number;
  p50: number;
  p99: number;
  /** Until the first byte of the answer. */
  firstByteP99: number;
  failed: number;
  dropped: number;
  requests: number;
  /** CPU of all the server's processes a request. */
  cpuUs: number;
}

/** What a request names. */
interface Loaded {
  apiKey: string;
  serviceId: string;
}

const run = promisify(execFile);

async function startModule(args: string[], environment: NodeJS.ProcessEnv, ready: RegExp): Promise<{ child: ChildProcess; output: string }> {
  const child = spawn(process.execPath, args, { env: { ...process.env, ...environment }, stdio: ["ignore", "pipe", "inherit"] });
  let output = "";
  for await (const chunk of child.stdout.iterator({ destroyOnReturn: false })) {
    output += String(chunk);
    if (ready.test(output)) break;
  }
  // What it prints later must not fill the pipe.
  child.stdout.resume();
  if (!ready.test(output)) throw new Error(`${args.join(" ")} ended before it was ready:\n${output}`);
  return { child, output };
}

/** What is under load: its address, and its process with all below it. */
interface Target {
  base: string;
  pid: number;
}

/** k6 exits 99 when a threshold is missed; the figures are judged here. */
async function load({ base, pid }: Target, { apiKey, serviceId }: Loaded, work: string, mode: "latency" | "throughput", seconds = 10): Promise<Figures> {
  const args = ["run", "--quiet", "-e", `BASE=${base}`, "-e", `API_KEY=${apiKey}`, "-e", `WORK=${work}`, "-e", `MODE=${mode}`, "-e", `DURATION=${seconds}s`, "-e", `SERVICE=${serviceId}`, "-e", `RATE=${work === "create" ? 500 : 1_000}`, join(PROJECT_ROOT, "bench/api.js")];
  const before = cpuOfFamily(pid);
  const { stdout } = await run("k6", args).catch((error: { code?: number; stdout?: string }) => {
    if (error.code === 99 && error.stdout) return { stdout: error.stdout };
    throw error;
  });
  const figures = JSON.parse(stdout.slice(stdout.indexOf("{"))) as Omit<Figures, "cpuUs">;
  return { ...figures, cpuUs: (cpuOfFamily(pid) - before) / figures.requests };
}

/** Gives the id of the service that the incidents are of. */
async function fill(base: string, apiKey: string): Promise<string> {
  const headers = { "X-API-Key": apiKey, "Content-Type": "application/json" };
  const post = async (path: string, body: object) => {
    const response = await fetch(`${base}/api/v1${path}`, { method: "POST", headers, body: JSON.stringify(body) });
    if (!response.ok) throw new Error(`${path} answered ${response.status}: ${await response.text()}`);
    return (await response.json()) as { id: string };
  };
  const service = await post("/services", { name: "Measured" });
  for (let number = 0; number < INCIDENTS; number++) {
    const { id } = await post("/incidents", { title: `Incident ${number}`, message: "We are looking into it.", services: [service.id] });
    await post(`/incidents/${id}/updates`, { status: "resolved", message: "It is over." });
  }
  return service.id;
}

/** Headers that Node writes by itself. */
const OWN_HEADERS = new Set(["connection", "keep-alive", "content-length", "date", "transfer-encoding"]);

/** As sent, in the encoding that browsers ask for. */
async function hear(url: string, apiKey: string): Promise<SameAnswer> {
  const { headers, body } = await request(url, { headers: { "x-api-key": apiKey, "accept-encoding": "gzip, deflate, br" } });
  const own = Object.entries(headers).flatMap(([name, value]): [string, string][] => (OWN_HEADERS.has(name) || value === undefined ? [] : [[name, String(value)]]));
  return { headers: Object.fromEntries(own), body: Buffer.from(await body.arrayBuffer()).toString("base64") };
}

async function end(child: ChildProcess | undefined): Promise<void> {
  if (!child || child.exitCode !== null) return;
  child.kill("SIGTERM");
  await once(child, "exit");
}

async function main(): Promise<boolean> {
  const folder = await mkdtemp(join(tmpdir(), "pharos-bench-"));
  const children: ChildProcess[] = [];
  try {
    const environment = { PHAROS_DATA_DIR: join(folder, "data"), PORT: "0", EDGE_PORT: "0", LOG_LEVEL: "warn", RATE_LIMIT_STANDARD: "free:0,pro:0,team:0", RATE_LIMIT_PAGE_VIEWS: "0" };
    const pharos = await startModule([join(PROJECT_ROOT, "dist/main.js")], environment, /Fast ingest .*\n[\s\S]*psk_\w{40}/);
    children.push(pharos.child);
    const base = /Start page\s+(\S+?)\/\n/.exec(pharos.output)![1]!;
    const apiKey = /psk_\w{40}/.exec(pharos.output)![0];
    const serviceId = await fill(base, apiKey);

    const answers: Record<string, SameAnswer> = {};
    for (const path of ["/api/v1/services", "/api/v1/incidents", "/pages/demo"]) answers[path] = await hear(base + path, apiKey);
    console.log(`The page is ${Buffer.from(answers["/pages/demo"]!.body, "base64").length} bytes, compressed (at most 14,336).\n`);
    await writeFile(join(folder, "answers.json"), JSON.stringify(answers));
    const bare = await startModule([...LOADER_ARGUMENTS, join(PROJECT_ROOT, "bench/bare-api.ts"), join(folder, "answers.json")], {}, /http:\/\/\S+\n/);
    children.push(bare.child);
    return await measure({ base, pid: pharos.child.pid! }, { base: bare.output.trim(), pid: bare.child.pid! }, { apiKey, serviceId });
  } finally {
    for (const child of children.toReversed()) await end(child);
    await rm(folder, { recursive: true, force: true });
  }
}

/** A line of the table. */
interface Work {
  work: string;
  share?: GoalName;
  p99: GoalName;
  firstByte?: true;
}

const WORKS: readonly Work[] = [
  { work: "services", share: "api/services/share", p99: "api/services/p99" },
  { work: "incidents", share: "api/incidents/share", p99: "api/incidents/p99" },
  { work: "page", share: "api/page/share", p99: "api/page/p99", firstByte: true },
  { work: "create", p99: "api/create/p99" },
];

async function measure(ours: Target, bare: Target, loaded: Loaded): Promise<boolean> {
  const reached: boolean[] = [];
  const lines: string[][] = [];
  for (const { work, share, p99, firstByte } of WORKS.filter((each) => NAMES.includes(each.work))) {
    const pairs: { ours: Figures; bare: Figures }[] = [];
    const full: { ours: Figures; bare: Figures }[] = [];
    // What is measured is a service that runs, not one that was started a moment ago.
    for (const target of [ours, bare]) await load(target, loaded, work, "latency");
    for (let pair = 0; pair < PAIRS; pair++) {
      pairs.push({ ours: await load(ours, loaded, work, "latency"), bare: await load(bare, loaded, work, "latency") });
      if (share) full.push({ ours: await load(ours, loaded, work, "throughput"), bare: await load(bare, loaded, work, "throughput") });
    }
    const of = (figures: typeof pairs, figure: (each: (typeof pairs)[number]) => number): number => median(figures.map(figure));
    const slowest = (figures: Figures) => (firstByte ? figures.firstByteP99 : figures.p99);
    const slow = of(pairs, (each) => slowest(each.ours));
    reached.push(judge(p99, slow), pairs.every((each) => each.ours.failed + each.ours.dropped === 0));
    const cost = share ? full : pairs;
    const percent = 100 * of(cost, (each) => each.bare.cpuUs / each.ours.cpuUs);
    if (share) reached.push(judge(share, percent));
    lines.push([
      work,
      `${slow.toFixed(1)} ms`,
      `${of(pairs, (each) => slowest(each.bare)).toFixed(1)} ms`,
      wanted(p99),
      of(cost, (each) => each.ours.cpuUs).toFixed(0),
      of(cost, (each) => each.bare.cpuUs).toFixed(0),
      `${percent.toFixed(0)} %`,
      share ? wanted(share) : "",
      share ? `${(100 * of(full, (each) => each.ours.perSecond / each.bare.perSecond)).toFixed(0)} %` : "",
    ]);
  }
  console.log(`${machine()}\n`);
  console.log(table([["work", "p99 (of a page: to the first byte)", "bare", "wanted", "CPU-µs a request, all processes", "bare", "share of bare", "wanted", "by requests a second, k6 beside"], ...lines]));
  return reached.every(Boolean);
}

process.exitCode = (await main()) ? 0 : 1;
