import { originalPositionFor, TraceMap, type SourceMapInput } from "@jridgewell/trace-mapping";
import { build } from "esbuild";
import { SourceMapConsumer } from "source-map";
import { buildIndex } from "../domain/source-maps/build-index.ts";
import { openIndex } from "../domain/source-maps/flat-index.ts";
import { judge, wanted } from "./goals.ts";
import { machine, median, option, ownCpu, table } from "./measuring.ts";

/**
 * How many frames of a minified bundle one core puts back to their originals, once the map is warm: by our index, by source-map's consumer and
 * by trace-mapping, in turns in one run. A goal is judged by the median of the pairs' ratios. What the index costs at upload stands below.
 *
 *   npx tsx bench/symbolicate.ts [--pairs 15] [--seconds 0.3] [--positions 65536] [--entry css-tree]
 *
 * Exits 1 when a figure is not reached.
 */
const PAIRS = Number(option("pairs", "15"));
const ROUND_MS = Number(option("seconds", "0.3")) * 1_000;
const ENTRIES = option("entry", "css-tree,@redocly/openapi-core,kafkajs,rrule").split(",");
/** Distinct frames, drawn at random. */
const POSITIONS = Number(option("positions", "65536"));
const BATCH = 1_024;

interface Finder {
  name: string;
  /** The original of the number-th position; its result is kept alive so that it is not left out. */
  find(number: number): unknown;
}

interface Places {
  /** Generated, as stacks print them: 1-based. */
  lines: Int32Array;
  columns: Int32Array;
}

async function bundle(): Promise<string> {
  const result = await build({
    stdin: { contents: ENTRIES.map((entry, index) => `export * as entry${index} from ${JSON.stringify(entry)};`).join("\n"), resolveDir: process.cwd() },
    bundle: true,
    minify: true,
    platform: "node",
    format: "esm",
    sourcemap: "external",
    write: false,
    outfile: "bundle.js",
    logLevel: "error",
  });
  return result.outputFiles.find(({ path }) => path.endsWith(".map"))!.text;
}

/** Drawn before anything is measured, always the same ones. */
function drawPlaces(consumer: SourceMapConsumer): Places {
  const all: [number, number][] = [];
  consumer.eachMapping(({ generatedLine, generatedColumn }) => all.push([generatedLine, generatedColumn + 1]));
  let seed = 1;
  const drawn = Array.from({ length: POSITIONS }, () => {
    seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0;
    return all[Math.floor((seed / 2 ** 32) * all.length)]!;
  });
  return { lines: Int32Array.from(drawn, ([line]) => line), columns: Int32Array.from(drawn, ([, column]) => column) };
}

let kept: unknown;

/** Frames per second of CPU time. */
function measure({ find }: Finder): number {
  const before = ownCpu();
  const until = performance.now() + ROUND_MS;
  let done = 0;
  while (performance.now() < until) {
    for (let number = 0; number < BATCH; number++) kept = find((done + number) % POSITIONS);
    done += BATCH;
  }
  return (done / (ownCpu() - before)) * 1e6;
}

/** All three must find the same, or the figures compare nothing. */
function checkSame(finders: readonly Finder[]): void {
  for (let number = 0; number < 2_000; number++) {
    const [ours, ...others] = finders.map(({ find }) => find(number) as { line: number | null; column: number | null } | null);
    for (const other of others) if (ours?.line !== other?.line || (ours?.column ?? 0) - 1 !== other?.column) throw new Error(`Position ${number} is found at different places.`);
  }
}

async function main(): Promise<boolean> {
  const map = await bundle();
  const bytes = Buffer.from(map);
  const started = ownCpu();
  const built = await buildIndex(bytes);
  const buildMs = (ownCpu() - started) / 1_000;
  if (built.kind === "invalid") throw new Error(built.reason);

  const index = openIndex(built.index);
  const consumer = await new SourceMapConsumer(map);
  const trace = new TraceMap(JSON.parse(map) as SourceMapInput);
  const { lines, columns } = drawPlaces(consumer);
  const finders: Finder[] = [
    { name: "our index, with the function's name", find: (number) => index.find(lines[number]!, columns[number]!) },
    { name: "source-map", find: (number) => consumer.originalPositionFor({ line: lines[number]!, column: columns[number]! - 1 }) },
    { name: "trace-mapping", find: (number) => originalPositionFor(trace, { line: lines[number]!, column: columns[number]! - 1 }) },
  ];
  checkSame(finders);

  const rounds: number[][] = [];
  for (let round = -1; round < PAIRS; round++) {
    const speeds = finders.map(measure);
    // The first round warms up.
    if (round >= 0) rounds.push(speeds);
  }
  consumer.destroy();
  if (kept === undefined) throw new Error("Nothing was measured.");

  console.log(`Frames per second on one core, medians of ${PAIRS} rounds of ${ROUND_MS / 1_000} s; a map of ${built.mappings} mappings and ${built.sources} sources (${ENTRIES.join(", ")}); ${machine()}\n`);
  const speed = median(rounds.map(([ours]) => ours!));
  const ratios = finders.map((_, at) => median(rounds.map((speeds) => speeds[0]! / speeds[at]!)));
  const rows = finders.map(({ name }, at) => {
    const speeds = rounds.map((round) => round[at]!);
    const spread = `${millions(median(speeds))} (${millions(Math.min(...speeds))}–${millions(Math.max(...speeds))})`;
    return at === 0 ? [name, spread, "", wanted("symbolicate/rate")] : [name, spread, `${ratios[at]!.toFixed(1)}×`, wanted("symbolicate/ratio")];
  });
  console.log(table([["by", "M frames/s (spread)", "ours is", "wanted"], ...rows]));
  console.log(`\nBuilt in ${buildMs.toFixed(0)} CPU-ms from ${megabytes(bytes.length)}; the index has ${megabytes(built.index.length)}.`);
  return [judge("symbolicate/rate", speed / 1e6), judge("symbolicate/ratio", Math.min(...ratios.slice(1)))].every(Boolean);
}

function millions(value: number): string {
  return (value / 1e6).toFixed(2);
}

function megabytes(bytes: number): string {
  return `${(bytes / 1e6).toFixed(1)} MB`;
}

process.exitCode = (await main()) ? 0 : 1;
