import { WHOLE_RECORD } from "../../../domain/dead-letters/record-dead-letters.ts";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { encodePart } from "../../../testing/encode-part.ts";
import { ClickHouseUnavailable } from "../../../platform/clickhouse/port.ts";
import { decodeFrame, encodeFrame } from "../../../platform/event-log/frame.ts";
import type { LogRecord } from "../../../platform/event-log/port.ts";
import { makeLog } from "../../../platform/log.ts";
import { makeMetrics } from "../../../platform/metrics.ts";
import { makeBatchRunner, type BatchRunner } from "../batch-runner.ts";
import { placedRows } from "../placed-rows.ts";
import { entryIndexOf, rowIndexOf } from "../row-places.ts";
import { makeRowWork } from "../row-consumer.ts";
import { makeScheduler, type Fate, type Scheduler } from "./scheduler.ts";
import { copyOf, emptyClickHouse, emptyPostgres, MODEL_COLUMNS, modelCursors, modelRows, placeOf, type ModelClickHouse, type ModelPostgres, type ModelTransaction } from "./stores.ts";

const PARTITIONS = 3;
/** A reader waits for its turn so long that another batch may fail and a takeover end meanwhile. */
const WAIT_TURNS = 12;
const NAME = { group: "errors", logId: "log", topic: "beacons" } as const;
const EDGES = ["0199a000-0000-4000-8000-000000000001", "0199a000-0000-4000-8000-000000000002"];
const ORGANIZATION = "0199a000-0000-4000-8000-00000000000f";
const log = makeLog("silent");
const metrics = makeMetrics();

/** What happens in a history, besides the calls of the stores. */
type Happening =
  | { kind: "calls"; choices: number[]; fates: Fate[]; splits: (number | null)[] }
  | { kind: "append"; partition: number; edge: number; entries: ("sound" | "poison")[]; resend: boolean }
  | { kind: "rebalance"; partition: number; to: number; late: boolean }
  | { kind: "crash"; process: number }
  | { kind: "copy" }
  | { kind: "restore" };

interface Process {
  number: number;
  runner: BatchRunner;
  /** Assignments by partition: a new one ends the reader of the one before. */
  owns: Map<number, symbol>;
  /** Offsets that a takeover asked to be read again. */
  again: Map<number, bigint>;
  alive: boolean;
}

/** The whole of it: a log, two stores and some processes. */
class World {
  readonly records = Array.from({ length: PARTITIONS }, (): LogRecord[] => []);
  readonly sequences = new Map<string, bigint>();
  postgres: ModelPostgres = emptyPostgres();
  saved: ModelPostgres = copyOf(this.postgres);
  readonly clickhouse: ModelClickHouse = emptyClickHouse();
  readonly processes: Process[] = [];
  splits: (number | null)[] = [];
  time = 0;
  woken: (() => void)[] = [];
  readonly scheduler: Scheduler = makeScheduler({
    unknown: (kind) => (kind === "clickhouse" ? new ClickHouseUnavailable("no answer") : Object.assign(new Error("Connection terminated"), { code: "08006" })),
    refused: () => new Error("refused for this once"),
  });

  start(): Process {
    const number = this.processes.length;
    const { scheduler, clickhouse } = this;
    const cursors = modelCursors(() => this.postgres, scheduler, number, NAME);
    const rows = modelRows(clickhouse, scheduler, number, NAME, () => this.splits.shift() ?? null);
    const work = makeRowWork<ModelRow>(NAME, rows, {
      rowsOf: async (slices, only) => {
        const { rows: computed, unreadable } = placedRows<ModelRow>("log", slices, (place, { body }) => [...body.keys()].map((position) => rowAt(place.partition, place.offset, place.firstIndex + position)), only);
        const encoded = computed.length === 0 ? [] : [encodePart(MODEL_COLUMNS, computed.map(({ partition, offset, index }) => ({ partition, offset, index })))];
        return { rows: computed, encoded, unreadable, count: computed.length };
      },
      apply: async (transaction, stored) => {
        const { counted } = transaction as unknown as ModelTransaction;
        for (const row of stored.rows) {
          if (this.isPoison(row)) throw new RangeError("a poisoned entry");
          counted.set(placeOf(row), (counted.get(placeOf(row)) ?? 0) + 1);
        }
      },
    });
    const pause = (ms: number) => scheduler.call(number, "timer", () => void (this.time += ms));
    const needs = { eventLog: undefined as never, clock: { now: () => this.time, monotonic: () => this.time }, log, metrics };
    const runner = makeBatchRunner(needs, NAME, { cursors, rows }, { limits: { entries: 4, bytes: 1e6 }, maxBytes: 1e6, everyMs: 0, pause, readAgain: (partition, next) => this.readAgain(number, partition, next) }, work);
    const process = { number, runner, owns: new Map<number, symbol>(), again: new Map<number, bigint>(), alive: true };
    this.processes.push(process);
    return process;
  }

  isPoison({ partition, offset, index }: ModelRow): boolean {
    const record = this.records[partition]!.find((each) => each.offset === BigInt(offset))!;
    return decodeFrame(record.value).entries[entryIndexOf(index)]!.body[0] === 1;
  }

  append({ partition, edge, entries, resend }: Extract<Happening, { kind: "append" }>): void {
    const edgeId = EDGES[edge]!;
    const records = this.records[partition]!;
    const offset = BigInt(records.length);
    const last = records.findLast(({ value }) => decodeFrame(value).head.edgeId === edgeId);
    const key = `${partition}/${edgeId}`;
    const sequence = (this.sequences.get(key) ?? 0n) + 1n;
    if (resend && last) records.push({ offset, value: last.value });
    else {
      this.sequences.set(key, sequence);
      const frame = entries.map((kind, at) => ({ requestNumber: 0, receivedAt: 1, detached: true, organizationId: ORGANIZATION, subjectId: ORGANIZATION, body: Buffer.alloc(1 + (at % 2), kind === "poison" ? 1 : 0) }));
      records.push({ offset, value: encodeFrame({ edgeId, sequence }, frame) });
    }
    for (const wake of this.woken.splice(0)) wake();
  }

  /** Reads a partition for a process, as a log does, until it is revoked. */
  async read(process: Process, partition: number): Promise<void> {
    const assignment = Symbol("assignment");
    process.owns.set(partition, assignment);
    let next: bigint | null = null;
    while (process.alive && process.owns.get(partition) === assignment) {
      try {
        next ??= await process.runner.assign(partition);
      } catch {
        await settled();
        continue;
      }
      next = process.again.get(partition) ?? next;
      process.again.delete(partition);
      const records = this.records[partition]!.slice(Number(next), Number(next) + 3);
      if (records.length === 0) {
        await new Promise<void>((resolve) => this.woken.push(resolve));
        continue;
      }
      // What is asked for meanwhile comes after what was fetched before.
      const done = await process.runner.beforeRecords();
      for (let turn = 0; turn < WAIT_TURNS; turn++) await this.scheduler.call(process.number, "timer", () => undefined);
      if (process.alive && process.owns.get(partition) === assignment) next = await process.runner.process({ partition, records, end: BigInt(this.records[partition]!.length), owned: () => true, keepAlive: async () => undefined });
      done();
    }
  }

  readAgain(process: number, partition: number, next: bigint): void {
    this.processes[process]!.again.set(partition, next);
    for (const wake of this.woken.splice(0)) wake();
  }

  crash(process: Process): void {
    process.alive = false;
    this.scheduler.forget(process.number);
    void process.runner.stop();
  }

  rebalance(partition: number, to: Process, late: boolean): void {
    const owners = this.processes.filter((each) => each.alive && each !== to && each.owns.has(partition));
    // A late revocation: two processes believe for a while that the partition is theirs.
    if (!late) for (const owner of owners) this.revoke(owner, partition);
    if (!to.owns.has(partition)) void this.read(to, partition);
  }

  revoke(process: Process, partition: number): void {
    process.owns.delete(partition);
    process.runner.revoke(partition);
    for (const wake of this.woken.splice(0)) wake();
  }

  /** Until everything has been processed, without another fault. */
  async finish(): Promise<void> {
    for (let partition = 0; partition < PARTITIONS; partition++) {
      const [owner, ...others] = this.processes.filter((each) => each.alive && each.owns.has(partition));
      for (const other of others) this.revoke(other, partition);
      if (!owner) this.rebalance(partition, this.processes.find((each) => each.alive) ?? this.start(), false);
    }
    const isDone = (): boolean => this.records.every((records, partition) => (this.postgres.cursors.get(partition)?.next ?? 0n) === BigInt(records.length));
    // A process that is idle finds out by itself that PostgreSQL was restored, some seconds later.
    for (const process of this.processes) if (process.alive) void process.runner.verifyLease().catch(() => undefined);
    for (let step = 0; !isDone(); step++) {
      if (step > 20_000) throw new Error(`it does not come to an end: ${JSON.stringify([...this.postgres.cursors].map(([partition, { next }]) => [partition, Number(next), this.records[partition]!.length]))}`);
      this.scheduler.step(0, "done");
      await settled();
    }
  }

  async stop(): Promise<void> {
    for (const process of this.processes) if (process.alive) this.crash(process);
    await settled();
  }
}

interface ModelRow {
  log_id: string;
  partition: number;
  offset: string;
  index: number;
}

const rowAt = (partition: number, offset: bigint, index: number): ModelRow => ({ log_id: "log", partition, offset: String(offset), index });

async function settled(): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve));
  await new Promise((resolve) => setImmediate(resolve));
}

async function happen(world: World, happening: Happening): Promise<void> {
  const alive = world.processes.filter((each) => each.alive);
  switch (happening.kind) {
    case "append":
      return world.append(happening);
    case "rebalance":
      return world.rebalance(happening.partition, happening.to < alive.length ? alive[happening.to]! : world.start(), happening.late);
    case "crash": {
      const process = alive[happening.process % Math.max(1, alive.length)];
      if (process) world.crash(process);
      return;
    }
    case "copy":
      world.saved = copyOf(world.postgres);
      return;
    case "restore":
      world.postgres = copyOf(world.saved);
      world.scheduler.breakAll("postgres");
      return;
    case "calls":
      world.splits = [...happening.splits];
      for (const [at, choice] of happening.choices.entries()) {
        world.scheduler.step(choice, happening.fates[at % happening.fates.length]!);
        await settled();
      }
  }
}

/** Places that the log's records give: each frame counts once, however often it was sent. */
function expectedPlaces(world: World): { sound: Set<string>; poisoned: Set<string> } {
  const sound = new Set<string>();
  const poisoned = new Set<string>();
  for (const [partition, records] of world.records.entries()) {
    const last = new Map<string, bigint>();
    for (const { offset, value } of records) {
      const { head, entries } = decodeFrame(value);
      if (head.sequence <= (last.get(head.edgeId) ?? 0n)) continue;
      last.set(head.edgeId, head.sequence);
      for (const [entryIndex, { body }] of entries.entries()) {
        for (let position = 0; position < body.byteLength; position++) (body[0] === 1 ? poisoned : sound).add(placeOf({ partition, offset, index: rowIndexOf(entryIndex, position) }));
      }
    }
  }
  return { sound, poisoned };
}

function check(world: World): void {
  const { sound, poisoned } = expectedPlaces(world);
  const places = world.clickhouse.rows.map(({ place }) => place);
  expect(new Set(places).size, "no place stands twice").toBe(places.length);

  // A store that refuses the same entry again and again makes it a dead letter too: then it is neither counted nor lost.
  const isLettered = (place: string): boolean => {
    const [partition, offset, index] = place.split("/");
    return [entryIndexOf(Number(index)), WHOLE_RECORD].some((entry) => world.postgres.letters.has(`${partition}/${offset}/${entry}`));
  };
  expect([...poisoned].filter((place) => !isLettered(place)), "each poisoned entry is a dead letter").toEqual([]);
  const processed = [...sound].filter((place) => !isLettered(place)).toSorted();
  expect(places.filter((place) => !isLettered(place)).toSorted(), "each row stands").toEqual(processed);
  expect([...world.postgres.counted].filter(([, times]) => times !== 1), "nothing is counted twice").toEqual([]);
  expect([...world.postgres.counted.keys()].toSorted(), "each row that stands is counted").toEqual(processed);
  expect(processed.filter((place) => !world.clickhouse.side.has(place)), "the table behind the view holds what its query gives").toEqual([]);
}

const partition = fc.nat(PARTITIONS - 1);
const fate = fc.oneof({ weight: 12, arbitrary: fc.constant<Fate>("done") }, { weight: 1, arbitrary: fc.constant<Fate>("refused") }, { weight: 1, arbitrary: fc.constant<Fate>("not done, no answer") }, { weight: 2, arbitrary: fc.constant<Fate>("done, no answer") });
const happening: fc.Arbitrary<Happening> = fc.oneof(
  { weight: 6, arbitrary: fc.record({ kind: fc.constant("calls" as const), choices: fc.array(fc.nat(20), { minLength: 1, maxLength: 25 }), fates: fc.array(fate, { minLength: 1, maxLength: 9 }), splits: fc.array(fc.oneof({ weight: 4, arbitrary: fc.constant(null) }, { weight: 1, arbitrary: fc.nat(6) }), { maxLength: 4 }) }) },
  { weight: 6, arbitrary: fc.record({ kind: fc.constant("append" as const), partition, edge: fc.nat(1), entries: fc.array(fc.oneof({ weight: 30, arbitrary: fc.constant("sound" as const) }, { weight: 1, arbitrary: fc.constant("poison" as const) }), { minLength: 1, maxLength: 3 }), resend: fc.oneof({ weight: 4, arbitrary: fc.constant(false) }, fc.constant(true)) }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant("rebalance" as const), partition, to: fc.nat(3), late: fc.boolean() }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("crash" as const), process: fc.nat(3) }) },
  { weight: 1, arbitrary: fc.constant({ kind: "copy" as const }) },
  { weight: 1, arbitrary: fc.constant({ kind: "restore" as const }) },
);

const HISTORIES = Number(process.env.PHAROS_MODEL_HISTORIES ?? 2_500);

test(`${HISTORIES} histories of crashes, rebalances, lost answers and restores end with each row once in both stores`, async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(happening, { minLength: 3, maxLength: 25 }), async (history) => {
      const world = new World();
      try {
        const first = world.start();
        for (let number = 0; number < PARTITIONS; number++) void world.read(first, number);
        for (const each of history) {
          await happen(world, each);
          await settled();
        }
        await world.finish();
        check(world);
      } finally {
        await world.stop();
      }
    }),
    { numRuns: HISTORIES, endOnFailure: process.env.PHAROS_MODEL_SHRINK === undefined, ...(process.env.PHAROS_MODEL_SEED !== undefined && { seed: Number(process.env.PHAROS_MODEL_SEED) }) },
  );
});
