/**
 * `npm run bench [-- --only edge,insert] [--smoke] [--pairs N] [--seconds S]`: runs the benchmarks one after the other, each with its reference
 * beside it, and prints their tables as markdown. `--smoke` only shows that each works: its figures mean nothing. The other options go to each
 * benchmark. Exits 1 when a goal is missed or a benchmark failed.
 */
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { LOADER_ARGUMENTS, PROJECT_ROOT } from "../platform/root.ts";
import { whyNoKafka } from "../testing/kafka.ts";
import { goalLines, type Judged } from "./goals.ts";
import { machine, option, readOrEmpty, table } from "./measuring.ts";

interface Benchmark {
  name: string;
  measures: string;
  needs: readonly ("kafka" | "k6")[];
  /** Does not take `--pairs` and `--seconds`; left out of a smoke run. */
  fixed?: true;
}

const BENCHMARKS: readonly Benchmark[] = [
  { name: "edge", measures: "a beacon and a ping at an edge", needs: ["kafka"] },
  { name: "produce", measures: "an event into Kafka", needs: ["kafka"] },
  { name: "freshness", measures: "from a beacon to GET /errors", needs: ["kafka"] },
  { name: "pipeline", measures: "the whole pipeline", needs: ["kafka"] },
  { name: "catch-up", measures: "after an outage of five minutes", needs: ["kafka"], fixed: true },
  { name: "hot-signature", measures: "one signature by two processors", needs: ["kafka"], fixed: true },
  { name: "insert", measures: "a row into ClickHouse", needs: [] },
  { name: "seen-ids", measures: "counting an event id once", needs: [], fixed: true },
  { name: "symbolicate", measures: "a frame back to its source", needs: [] },
  { name: "fingerprint", measures: "grouping, and thresholds", needs: [] },
  { name: "worker-hand-over", measures: "to a worker and back", needs: [] },
  { name: "metrics", measures: "pushes with their evaluation", needs: ["kafka"] },
  { name: "scheduler", measures: "checks and deliveries of one scheduler", needs: [] },
  { name: "memory", measures: "npm start under load", needs: [], fixed: true },
  { name: "small", measures: "npm start at rest, at 4 errors a second, with 500 checks", needs: [], fixed: true },
  { name: "run-k6", measures: "the ingest endpoints by k6", needs: ["kafka", "k6"] },
  { name: "reading", measures: "lists, details and exports of errors", needs: [], fixed: true },
  { name: "growth", measures: "what more of everything costs", needs: ["kafka"], fixed: true },
  { name: "run-api", measures: "the REST API by k6", needs: ["k6"], fixed: true },
];

const K6 = "k6";
const smoke = process.argv.includes("--smoke");
const only = option("only", "").split(",").filter(Boolean);
const unknown = only.filter((name) => !BENCHMARKS.some((each) => each.name === name));
if (unknown.length > 0) {
  console.error(`There is no benchmark ${unknown.join(", ")}; there are ${BENCHMARKS.map(({ name }) => name).join(", ")}.`);
  process.exit(1);
}

/** Why it cannot run here; null when it can. */
function lacking({ needs, fixed }: Benchmark): string | null {
  if (smoke && fixed) return "left out of a smoke run";
  if (needs.includes("kafka") && whyNoKafka() !== null) return `not run: ${whyNoKafka()}`;
  if (needs.includes("k6") && spawnSync(K6, ["version"]).status !== 0) return "not run: there is no k6 on the PATH";
  return null;
}

const passedOn = ["pairs", "seconds", "connections"].flatMap((name) => {
  const value = option(name, smoke ? ({ pairs: "1", seconds: "2" }[name] ?? "") : "");
  return value === "" ? [] : [`--${name}`, value];
});
const commit = spawnSync("git", ["rev-parse", "--short", "HEAD"], { cwd: PROJECT_ROOT, encoding: "utf8" }).stdout?.trim();
console.log(`${smoke ? "**A smoke run: these figures mean nothing.** " : ""}Commit ${commit || "unknown"}, ${machine()}\n`);

const results = join(mkdtempSync(join(tmpdir(), "pharos-bench-")), "results.jsonl");
const outcomes: [string, string, string][] = [];
for (const benchmark of BENCHMARKS) {
  if (only.length > 0 && !only.includes(benchmark.name)) continue;
  const reason = lacking(benchmark);
  if (reason !== null) {
    outcomes.push([benchmark.name, benchmark.measures, reason]);
    continue;
  }
  console.log(`\n### ${benchmark.name}: ${benchmark.measures}\n`);
  const child = spawn(process.execPath, [...LOADER_ARGUMENTS, join(PROJECT_ROOT, "bench", `${benchmark.name}.ts`), ...passedOn], { cwd: PROJECT_ROOT, env: { ...process.env, BENCH_RESULTS: results }, stdio: "inherit" });
  const [code] = (await once(child, "exit")) as [number | null];
  outcomes.push([benchmark.name, benchmark.measures, code === 0 ? "reached" : "missed or failed"]);
}
console.log(`\n${table([["benchmark", "measures", "goals"], ...outcomes])}`);
const judged = readOrEmpty(results).split("\n").filter(Boolean).map((line) => JSON.parse(line) as Judged);
rmSync(dirname(results), { recursive: true });
if (judged.length > 0) console.log(`\n## All goals\n\n${table([["row", "work", "goal", "reached", "ratio, above 1 is better", ""], ...goalLines(judged).toSorted(([a], [b]) => Number(a) - Number(b))])}`);
process.exitCode = outcomes.some(([, , outcome]) => outcome === "missed or failed") && !smoke ? 1 : 0;
