import { execFile, spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { request } from "undici";
import { LOADER_ARGUMENTS, PROJECT_ROOT } from "../platform/root.ts";
import type { SameAnswer } from "./bare-api.ts";
import { median, option } from "./measuring.ts";

/**
 * Measures the REST API beside a bare Fastify that answers the same bytes, in turns, five pairs, medians.
 * Needs k6 on the PATH: `npm run build && npx tsx bench/run-api.ts [--pairs 5] [--works services,incidents,page,create]`. Prints a table; exits 1
 * when a figure is not reached. What is measured is the built service, as people run it.
 */
const PAIRS = Number(option("pairs", "5"));
/** Such as `services,incidents`; create comes last, because it changes what the lists hold. */
const WORKS = option("works", "services,incidents,page,create").split(",");
const INCIDENTS = 50;

interface Figures {
  perSecond: number;
  p50: number;
  p99: number;
  /** Until the first byte of the answer. */
  firstByteP99: number;
  failed: number;
  dropped: number;
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

/** k6 exits 99 when a threshold is missed; the figures are judged here. */
async function load(base: string, apiKey: string, work: string, mode: "latency" | "throughput", seconds = 10): Promise<Figures> {
  const args = ["run", "--quiet", "-e", `BASE=${base}`, "-e", `API_KEY=${apiKey}`, "-e", `WORK=${work}`, "-e", `MODE=${mode}`, "-e", `DURATION=${seconds}s`, join(PROJECT_ROOT, "bench/api.js")];
  const { stdout } = await run("k6", args).catch((error: { code?: number; stdout?: string }) => {
    if (error.code === 99 && error.stdout) return { stdout: error.stdout };
    throw error;
  });
  return JSON.parse(stdout.slice(stdout.indexOf("{"))) as Figures;
}

async function fill(base: string, apiKey: string): Promise<void> {
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
    await fill(base, apiKey);

    const answers: Record<string, SameAnswer> = {};
    for (const path of ["/api/v1/services", "/api/v1/incidents", "/pages/demo"]) answers[path] = await hear(base + path, apiKey);
    console.log(`The page is ${Buffer.from(answers["/pages/demo"]!.body, "base64").length} bytes, compressed (at most 14,336).\n`);
    await writeFile(join(folder, "answers.json"), JSON.stringify(answers));
    const bare = await startModule([...LOADER_ARGUMENTS, join(PROJECT_ROOT, "bench/bare-api.ts"), join(folder, "answers.json")], {}, /http:\/\/\S+\n/);
    children.push(bare.child);
    return await measure(base, bare.output.trim(), apiKey);
  } finally {
    for (const child of children.toReversed()) await end(child);
    await rm(folder, { recursive: true, force: true });
  }
}

async function measure(base: string, bare: string, apiKey: string): Promise<boolean> {
  let reached = true;
  console.log("| work | p99 at 1,000/s (of a page: to the first byte) | bare | at most | share of bare | at least |\n|---|---|---|---|---|---|");
  for (const { work, share, firstByteMs } of [{ work: "services", share: 0.4 }, { work: "incidents", share: 0.4 }, { work: "page", share: 0.7, firstByteMs: 5 }, { work: "create", share: null }].filter((each) => WORKS.includes(each.work))) {
    const ratios: number[] = [];
    const p99s: { ours: number; bare: number }[] = [];
    // What is measured is a service that runs, not one that was started a moment ago.
    for (const server of [base, bare]) await load(server, apiKey, work, "latency", 5);
    for (let pair = 0; pair < PAIRS; pair++) {
      const ours = await load(base, apiKey, work, "latency");
      const theirs = await load(bare, apiKey, work, "latency");
      if (ours.failed + ours.dropped > 0) reached = false;
      p99s.push(firstByteMs ? { ours: ours.firstByteP99, bare: theirs.firstByteP99 } : { ours: ours.p99, bare: theirs.p99 });
      if (share !== null) ratios.push((await load(base, apiKey, work, "throughput")).perSecond / (await load(bare, apiKey, work, "throughput")).perSecond);
    }
    const p99 = median(p99s.map(({ ours }) => ours));
    const ratio = share === null ? null : median(ratios);
    const most = firstByteMs ?? 10;
    if (p99 > most || (ratio !== null && ratio < share!)) reached = false;
    const shown = ratio === null ? "" : `${(ratio * 100).toFixed(0)} %`;
    console.log(`| ${work} | ${p99.toFixed(1)} ms | ${median(p99s.map(({ bare }) => bare)).toFixed(1)} ms | ${most} ms | ${shown} | ${share === null ? "" : `${share * 100} %`} |`);
  }
  return reached;
}

process.exitCode = (await main()) ? 0 : 1;
