import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { monitorEventLoopDelay } from "node:perf_hooks";
import type { BriefRow } from "../domain/errors/brief-rows.ts";
import { openClickHouse } from "../platform/clickhouse/client.ts";
import { migrateClickHouse } from "../platform/clickhouse/migrate.ts";
import type { ClickHouse } from "../platform/clickhouse/port.ts";
import { startEmbeddedClickHouse } from "../platform/clickhouse/start-embedded.ts";
import { newId } from "../platform/ids.ts";
import { makeLog } from "../platform/log.ts";
import { makeSeenGenerations, SLOT_MS, slotOf, type SeenGenerations } from "../processors/errors/seen-events/generations.ts";
import { hashGivenIds } from "../processors/errors/seen-events/id-hash.ts";
import { makeSeenEvents } from "../processors/errors/seen-events/seen-events.ts";
import { machine, median, option, ownCpu, table } from "./measuring.ts";

/**
 * What it costs to count an event id once an hour: 34,000 ids a second over four partitions, on a simulated clock, until four generations are
 * full; then a batch as the processor has it (CPU time), and the warm-up of a partition from the embedded ClickHouse (by the clock).
 *
 *   npx tsx bench/seen-ids.ts [--rate 34000] [--minutes 80] [--warm 8]
 *
 * `--minutes` is the simulated time (each adds 2 million ids at this rate), `--warm` the millions of ids to warm from. Exits 1 when
 * a figure is not reached.
 */
const RATE = Number(option("rate", "34000"));
const MINUTES = Number(option("minutes", "80"));
const WARM_MILLIONS = Number(option("warm", "8"));
const PARTITIONS = 4;
const BATCH = 20_000;
const ASKED = 2_000_000;
/** Of so many ids one is kept, to be asked for at the end. */
const SAMPLED = 101;
const MOST = { addNs: 500, askNs: 600, bytes: 4.1, falseHits: 4e-6, warmMs: 1_000, blockMs: 50 };
const start = slotOf(Date.now());
const clock = { now: start };

/** Fills an array with random words (xorshift128, Marsaglia 2003), which must cost less than what is measured. */
function makeRandomWords(): (into: Uint32Array) => void {
  let [x, y, z, w] = [123456789, 362436069, 521288629, Date.now() | 1];
  return (into) => {
    for (let at = 0; at < into.length; at++) {
      const t = x ^ (x << 11);
      [x, y, z] = [y, z, w];
      w = w ^ (w >>> 19) ^ t ^ (t >>> 8);
      into[at] = w;
    }
  };
}

const randomWords = makeRandomWords();

interface Filled {
  addNs: number;
  askNs: number;
  ids: number;
  bytes: number;
  most: number;
  falseHits: number;
  missed: number;
}

/** Adds what comes in each simulated second; a processor that starts knows from ClickHouse how large the first generation is. */
function fill(): Filled {
  const budget = { left: 2 ** 30 };
  const filters = Array.from({ length: PARTITIONS }, () => makeSeenGenerations(budget, () => clock.now));
  const second = Math.round(RATE / PARTITIONS);
  for (const filter of filters) filter.expect(start, second * 1_200 * 1.05);
  const words = new Uint32Array(2 * second);
  const sample: number[][] = filters.map(() => []);
  let ids = 0;
  let spent = 0;
  let most = 0;
  for (clock.now = start; clock.now < start + MINUTES * 60_000; clock.now += 1_000) {
    for (const [number, filter] of filters.entries()) {
      randomWords(words);
      const began = ownCpu();
      for (let at = 0; at < words.length; at += 2) filter.add(words[at]!, words[at + 1]!, clock.now);
      spent += ownCpu() - began;
      // Of the last hour alone: what is older may be gone.
      if (clock.now > start + (MINUTES - 60) * 60_000) for (let at = 0; at < words.length; at += 2 * SAMPLED) sample[number]!.push(words[at]!, words[at + 1]!);
      ids += second;
    }
    most = Math.max(most, 2 ** 30 - budget.left);
  }
  const missed = filters.map((filter, number) => sample[number]!.length / 2 - countPerhaps(filter, Uint32Array.from(sample[number]!))).reduce((sum, each) => sum + each, 0);
  const asked = new Uint32Array(2 * ASKED);
  randomWords(asked);
  const began = ownCpu();
  const falseHits = countPerhaps(filters[0]!, asked) / ASKED;
  const askNs = ((ownCpu() - began) * 1e3) / ASKED;
  const held = filters.reduce((sum, filter) => sum + filter.size().ids, 0);
  const bytes = filters.reduce((sum, filter) => sum + filter.size().bytes, 0);
  return { addNs: (spent * 1e3) / ids, askNs, ids: held, bytes, most, falseHits, missed };
}

function countPerhaps(filter: SeenGenerations, hashes: Uint32Array): number {
  let found = 0;
  for (let at = 0; at < hashes.length; at += 2) if (filter.mayContain(hashes[at]!, hashes[at + 1]!)) found += 1;
  return found;
}

const service = newId();
const text = new Date(clock.now).toISOString().slice(0, -1).replace("T", " ");

/** An id in one piece, as it comes from a worker thread. */
const flatId = (): string => Buffer.from(newId(), "latin1").toString("latin1");

function batchOf(offset: number): BriefRow[] {
  return Array.from({ length: BATCH }, (_, index) => ({
    log_id: "log", partition: index % PARTITIONS, offset: String(offset), index, organization_id: service, service_id: service, signature_id: service,
    event_id: flatId(), event_id_given: true, type: "error", received_at: text, occurred_at: text, release: "", environment: "",
  }));
}

/** CPU-µs for an id of a batch, all new; and CPU-ns for its hash alone. */
async function ofBatch(clickhouse: ClickHouse): Promise<{ us: number; hashNs: number }> {
  const seen = makeSeenEvents({ clickhouse, log: makeLog("silent"), now: () => clock.now, readElsewhere: async () => () => false });
  seen.assign("log", Array.from({ length: PARTITIONS }, (_, partition) => ({ partition, kept: false })));
  await seen.warm();
  const times: number[] = [];
  const hashing: number[] = [];
  for (let round = 0; round < 20; round++) {
    const rows = batchOf(round);
    const began = ownCpu();
    hashGivenIds(rows);
    const hashed = ownCpu();
    const kept = await seen.withoutSeen(rows, []);
    times.push(ownCpu() - hashed);
    hashing.push(hashed - began);
    if (kept.length !== BATCH) throw new Error(`${BATCH - kept.length} new ids were taken for seen ones.`);
  }
  return { us: median(times) / BATCH, hashNs: (median(hashing) * 1e3) / BATCH };
}

/** ms for a million ids, and for how long the thread did nothing else at the longest. */
async function ofWarmUp(clickhouse: ClickHouse): Promise<{ ms: number; blockMs: number; wholeMs: number }> {
  const now = slotOf(Date.now()) + SLOT_MS - 1;
  for (let million = 0; million < WARM_MILLIONS; million++) {
    await clickhouse.command(
      `INSERT INTO seen_event_ids SELECT 'warm', 0, toStartOfInterval(moment, INTERVAL 20 MINUTE), rand64(number), generateUUIDv4(), {service:UUID}, moment, number, 0
       FROM (SELECT number, fromUnixTimestamp64Milli({now:Int64} - toInt64(number * 7919 % 3600000), 'UTC') AS moment FROM numbers(1000000))`,
      { now, service },
    );
  }
  const seen = makeSeenEvents({ clickhouse, log: makeLog("silent"), now: () => now, readElsewhere: async () => () => false });
  const delays = monitorEventLoopDelay({ resolution: 1 });
  delays.enable();
  const began = performance.now();
  seen.assign("warm", [{ partition: 0, kept: false }]);
  await seen.warm();
  const wholeMs = performance.now() - began;
  delays.disable();
  if (seen.size().ids < WARM_MILLIONS * 0.99e6) throw new Error(`Only ${seen.size().ids} ids were read.`);
  return { ms: wholeMs / WARM_MILLIONS, blockMs: delays.max / 1e6, wholeMs };
}

async function withClickHouse<Result>(use: (clickhouse: ClickHouse) => Promise<Result>): Promise<Result> {
  const folder = await mkdtemp(join(tmpdir(), "pharos-bench-"));
  const log = makeLog("silent");
  const engine = await startEmbeddedClickHouse({ folder, log });
  const clickhouse = openClickHouse(engine.url, log);
  try {
    await migrateClickHouse(engine.url, log);
    return await use(clickhouse);
  } finally {
    await clickhouse.close();
    await engine.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

async function main(): Promise<boolean> {
  const filled = fill();
  const { batch, warm } = await withClickHouse(async (clickhouse) => ({ batch: await ofBatch(clickhouse), warm: await ofWarmUp(clickhouse) }));
  const bytes = filled.bytes / filled.ids;
  console.log(`Seen event ids, ${RATE}/s over ${PARTITIONS} partitions for ${MINUTES} simulated minutes, ${(filled.ids / 1e6).toFixed(1)} million held; ${machine()}\n`);
  console.log(
    table([
      ["", "measured", "wanted"],
      ["add to the filter", `${filled.addNs.toFixed(0)} ns`, `≤ ${MOST.addNs} ns`],
      ["ask the filter, four generations", `${filled.askNs.toFixed(0)} ns`, `≤ ${MOST.askNs} ns`],
      ["memory, with spare room", `${(filled.bytes / 2 ** 20).toFixed(0)} MiB, ${bytes.toFixed(2)} bytes an id; at most ${(filled.most / 2 ** 20).toFixed(0)} MiB`, `≤ ${MOST.bytes} bytes an id`],
      ["false hits", filled.falseHits.toExponential(2), `≤ ${MOST.falseHits}`],
      ["ids missed", filled.missed, "0"],
      ["hash of an id", `${batch.hashNs.toFixed(0)} ns`, ""],
      [`an id of a batch of ${BATCH} new ones, all steps`, `${batch.us.toFixed(2)} µs`, ""],
      ["warm-up from ClickHouse", `${warm.ms.toFixed(0)} ms a million ids, ${(warm.wholeMs / 1_000).toFixed(1)} s in all`, `≤ ${MOST.warmMs} ms`],
      ["longest block of the thread meanwhile", `${warm.blockMs.toFixed(0)} ms`, `≤ ${MOST.blockMs} ms`],
    ]),
  );
  return filled.addNs <= MOST.addNs && filled.askNs <= MOST.askNs && bytes <= MOST.bytes && filled.falseHits <= MOST.falseHits && filled.missed === 0 && warm.ms <= MOST.warmMs && warm.blockMs <= MOST.blockMs;
}

process.exitCode = (await main()) ? 0 : 1;
