import { unlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { encodeFrame } from "../platform/event-log/frame.ts";
import { newId } from "../platform/ids.ts";
import { startWorkerPool } from "../platform/worker-pool.ts";
import { judge, wanted } from "./goals.ts";
import { machine, median, option, ownCpu, table } from "./measuring.ts";

/**
 * What it costs to hand events to a worker thread and have an answer back, 500 in one frame as the processors do it, beside a task for
 * each event: CPU-µs an event of both threads together, and how long a task takes. The worker does nothing, so only the way is counted.
 *
 *   npx tsx bench/worker-hand-over.ts [--pairs 9] [--seconds 1]
 *
 * Exits 1 when a figure is not reached.
 */
const PAIRS = Number(option("pairs", "9"));
const ROUND_MS = Number(option("seconds", "1")) * 1_000;
const EVENTS = 500;

interface Figure {
  cpu: number;
  ms: number;
}

const entry = { requestNumber: 0, receivedAt: Date.now(), detached: true, organizationId: newId(), subjectId: newId(), body: Buffer.alloc(777, "x") };
const frameOf = (events: number) => encodeFrame({ edgeId: newId(), sequence: 1n }, Array.from({ length: events }, () => entry));

/** The worker's module is made here: it is to answer as many small results as it got events, and nothing else. */
async function withPool<Result>(use: (run: (task: { value: Uint8Array; events: number }) => Promise<unknown>) => Promise<Result>): Promise<Result> {
  const file = join(tmpdir(), `pharos-hand-over-${process.pid}.mjs`);
  await writeFile(file, "export const answer = ({ value, events }) => ({ bytes: value.byteLength, results: new Uint32Array(events) });\n");
  const pool = startWorkerPool<{ value: Uint8Array; events: number }, unknown>({ file, name: "answer", threads: 1 });
  try {
    return await use((task) => pool.run(task));
  } finally {
    await pool.close();
    await unlink(file);
  }
}

async function measure(events: number, frame: Buffer, run: (task: { value: Uint8Array; events: number }) => Promise<unknown>): Promise<Figure> {
  const before = ownCpu();
  const began = performance.now();
  let tasks = 0;
  while (performance.now() - began < ROUND_MS) {
    await run({ value: frame, events });
    tasks += 1;
  }
  return { cpu: (ownCpu() - before) / (tasks * events), ms: (performance.now() - began) / tasks };
}

async function main(): Promise<boolean> {
  const wayOf = (name: string, events: number) => ({ name, events, frame: frameOf(events), figures: [] as Figure[] });
  const ways = [wayOf(`${EVENTS} events a task`, EVENTS), wayOf("a task for each event", 1)];
  await withPool(async (run) => {
    for (let pair = -1; pair < PAIRS; pair++) {
      for (const { events, frame, figures } of ways) {
        const figure = await measure(events, frame, run);
        if (pair >= 0) figures.push(figure);
      }
    }
  });
  console.log(`Handing events of 777 bytes to a worker and back, medians of ${PAIRS} pairs of ${ROUND_MS / 1_000} s; ${machine()}\n`);
  const rows = ways.map(({ name, figures }, index) => [name, median(figures.map(({ cpu }) => cpu)).toFixed(3), median(figures.map(({ ms }) => ms)).toFixed(2), index === 0 ? `${wanted("hand-over/cpu")}, ${wanted("hand-over/wait")}` : ""]);
  console.log(table([["way", "CPU-µs an event", "ms a task", "wanted"], ...rows]));
  const [batched] = ways;
  return [judge("hand-over/cpu", median(batched!.figures.map(({ cpu }) => cpu))), judge("hand-over/wait", median(batched!.figures.map(({ ms }) => ms)))].every(Boolean);
}

process.exitCode = (await main()) ? 0 : 1;
