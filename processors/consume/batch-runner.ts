import { WHOLE_RECORD } from "../../domain/dead-letters/record-dead-letters.ts";
import { setTimeout as delay } from "node:timers/promises";
import type { RecordBatch } from "../../platform/event-log/port.ts";
import { postgresCode } from "../../platform/postgres/database.ts";
import type { BatchOptions, BatchStores, BatchWork, Readings } from "./batch-consumer.ts";
import type { ConsumerName } from "./cursor-name.ts";
import type { CursorMove } from "./cursor-store.ts";
import { lettersOf, noteDeadLetters } from "./dead-letter.ts";
import { decideFailure, isOutcomeUnknown, reasonOf, type FailureDecision } from "./decide-failure.ts";
import type { FreshSlice } from "./fresh-frames.ts";
import { makeGate } from "./gate.ts";
import { advance, heldAfterTakeover, rewind, wasKept, type HeldPartition } from "./held-partition.ts";
import { makeIntake } from "./intake.ts";
import type { ConsumerNeeds } from "./needs.ts";
import { findCulprits } from "./quarantine.ts";
import type { Lane } from "./row-store.ts";
import { sliceOf } from "./slice-of.ts";
import { takeOver } from "./take-over.ts";
import { provenAfter } from "./watch-ends.ts";

const PAUSES_MS = [50, 100, 200, 500, 1_000, 2_000];
/** A partition that fails by itself is tried again after these times. */
const SLOW_PAUSES_MS = [200, 1_000, 5_000, 30_000];
/** A transaction that PostgreSQL rolled back is repeated so often before the batch counts as failed. */
const COMMITS = 3;
/** When so many entries in a row had to be given up, the fault is hardly theirs: from then on one at a time, and slowly. */
const GIVEN_UP_IN_A_ROW = 100;
const GIVEN_UP_PAUSE_MS = 30_000;
/** A record of which no entry fails alone is given up as a whole after so many failures. */
const GIVEN_UP_AFTER = 6;
/** What a gained partition waits for takes so long at most. */
const READY_MS = 30_000;
const ALIVE_EVERY_MS = 1_000;
/** Work that takes longer hangs by itself, on a half-open connection perhaps: then another owner shall have its partitions. */
const ALIVE_FOR_MS = 600_000;

/** Runs the batches of one consumer. */
export interface BatchRunner {
  /** A partition was assigned: resolves with the offset to start at, once this consumer holds it. */
  assign(partition: number): Promise<bigint>;
  revoke(partition: number): void;
  /** Awaited before records are taken from the log, so that those of a whole tick come together. */
  beforeRecords(): Promise<() => void>;
  /** Resolves with the offset to read next, once these records are processed or must come again. */
  process(batch: RecordBatch): Promise<bigint>;
  held(): { lease: string; next: ReadonlyMap<number, bigint> } | null;
  eventsPerRecord(): number;
  /** Takes its partitions over anew when PostgreSQL says otherwise than it knows: it was restored, or somebody else took them. */
  verifyLease(): Promise<void>;
  /** Ends the running batches; nothing is processed afterwards. */
  stop(): Promise<void>;
}

interface Batch<Prepared> {
  lane: Lane;
  slices: FreshSlice[];
  /** Never rejects unheard. */
  prepared: Promise<Prepared & Readings>;
  /** The takeover that it belongs to. */
  lease: string;
}

/** A runner without partitions. */
export function makeBatchRunner<Prepared, Stored, Result>(
  needs: ConsumerNeeds,
  name: ConsumerName,
  stores: BatchStores,
  options: BatchOptions,
  work: BatchWork<Prepared, Stored, Result>,
): BatchRunner {
  const { clock, log } = needs;
  const { cursors, rows } = stores;
  const assigned = new Set<number>();
  const partitions = new Map<number, HeldPartition>();
  const intake = makeIntake();
  const gate = makeGate();
  const stopping = new AbortController();
  const { signal } = stopping;
  let lease: string | null = null;
  /** What the log was told to deliver next. */
  const expected = new Map<number, bigint>();
  /** A takeover that waits for the running batches, and the one that runs. */
  let takingOver: Promise<void> | null = null;
  let running: Promise<void> | null = null;
  /** Takeovers after failures since a batch was committed. */
  let takeovers = 0;
  let lastBatchAt = -Infinity;
  let progressAt = clock.monotonic();
  let perRecord = 1;
  /** Entries that became dead letters since something was processed. */
  let givenUp = 0;

  const pause = options.pause ?? ((ms: number): Promise<void> => delay(ms, undefined, { signal }).catch(() => undefined));
  const pauseOf = (pauses: readonly number[], failures: number): number => pauses[Math.min(failures, pauses.length - 1)]!;

  // ---- Takeovers

  /** Takes all assigned partitions over once the running batches have ended. Calls of the same moment share one. */
  function requestTakeover(): Promise<void> {
    lease = null;
    takingOver ??= gate.alone(async () => {
      takingOver = null;
      running = takeAssignedOver().finally(() => (running = null));
      await running;
    });
    return takingOver;
  }

  async function takeAssignedOver(): Promise<void> {
    const wanted = [...assigned];
    for (const partition of partitions.keys()) if (!assigned.has(partition)) partitions.delete(partition);
    if (wanted.length === 0) return;
    const taken = await takeOver(stores, wanted, options.onStep);
    const changes = wanted.map((partition) => {
      const before = partitions.get(partition);
      const after = heldAfterTakeover(partition, taken.cursors.get(partition)!, before);
      partitions.set(partition, after);
      readAgain(partition, after.next);
      return { partition, kept: wasKept(before, after) };
    });
    const ready = options.onAssigned?.(changes);
    if (ready) waitUntilReady(ready, changes);
    lease = taken.lease;
    intake.wake();
    log.debug({ ...name, partitions: wanted, replays: [...partitions.values()].filter(({ next, replayUntil }) => next <= replayUntil).length }, "partitions taken over");
  }

  /** The log delivers from `next` on: with the answer of the call that waits or, when none does, by a request of its own. */
  function readAgain(partition: number, next: bigint): void {
    if (!intake.readAgain(partition, next) && (expected.get(partition) ?? next) > next) {
      expected.set(partition, next);
      options.readAgain?.(partition, next);
    }
  }

  /** Partitions that were gained wait for what is being prepared for them; the others do not wait with them. */
  function waitUntilReady(ready: Promise<void>, changes: readonly { partition: number; kept: boolean }[]): void {
    const gained = changes.flatMap(({ partition, kept }) => (kept ? [] : [partitions.get(partition)!]));
    for (const held of gained) held.notBefore = clock.monotonic() + READY_MS;
    void ready.finally(() => {
      for (const held of gained) held.notBefore = 0;
      intake.wake();
    });
  }

  /** After a failure: until it succeeds. */
  async function retakeOver(): Promise<void> {
    while (!signal.aborted && lease === null && assigned.size > 0) {
      // Two owners who both believe that a partition is theirs take it from each other: until one of them has had the
      // time for a batch, both wait longer and longer, and not in step.
      await pause(pauseOf(PAUSES_MS, takeovers++) * (0.5 + Math.random()));
      try {
        await (running ?? takingOver ?? (lease === null ? requestTakeover() : undefined));
      } catch (error) {
        log[takeovers === 1 ? "warn" : "debug"]({ ...name, err: reasonOf(error) }, "partitions could not be taken over; it is tried again");
      }
    }
  }

  // ---- Batches

  function takeBatch(lane: Lane): Batch<Prepared> | null {
    if (lease === null) return null;
    const isWanted = wantedIn(lane);
    const records = intake.take(options.limits, isWanted, (partition) => partitions.get(partition)!.limit);
    const slices = [...records].flatMap(([partition, taken]) => sliceOf(partitions.get(partition)!, taken, name.group, (reason) => blockPartition(partition, reason)) ?? []);
    for (const partition of records.keys()) {
      const { next, read } = partitions.get(partition)!;
      intake.putBack(partition, read);
      intake.finish(partition, next);
    }
    if (slices.length === 0) return null;
    const prepared = work.prepare(slices, null);
    prepared.catch(() => undefined);
    return { lane, slices, prepared, lease };
  }

  /** The slow lane takes one partition at a time, and so does the main lane while it looks for the one that fails. */
  function wantedIn(lane: Lane): (partition: number) => boolean {
    const now = clock.monotonic();
    const ofLane = (partition: number): boolean => {
      const held = partitions.get(partition);
      return held !== undefined && held.lane === lane && !held.deciding && held.notBefore <= now;
    };
    const single = [...partitions.values()].find(({ partition, alone }) => ofLane(partition) && (alone || lane === "slow") && intake.hasRecords((each) => each === partition));
    return single ? (partition) => partition === single.partition : ofLane;
  }

  /** A newer version of Pharos wrote what comes next: this one waits, and says so. */
  function blockPartition(partition: number, reason: string): void {
    const held = partitions.get(partition)!;
    held.lane = "slow";
    held.notBefore = clock.monotonic() + pauseOf(SLOW_PAUSES_MS, held.failures++);
    log.error({ ...name, partition, offset: String(held.next), reason }, "a partition waits for a newer version of Pharos");
  }

  async function runBatch({ slices, lane, prepared, lease: by }: Batch<Prepared>): Promise<void> {
    const readings = await prepared;
    await options.onStep?.("prepared");
    const stored = await work.store(readings, slices, { by: { lease: by, lane }, only: null });
    await options.onStep?.("inserted");
    const letters = lettersOf(name, slices, readings.unreadable, rows !== null);
    const moves = slices.map((slice) => moveOf(slice, readings));
    const result = await commitRepeatedly(() => cursors.commitBatch({ lease: by, moves, letters }, (transaction) => work.apply(transaction, stored)));
    await options.onStep?.("committed");
    takeovers = 0;
    for (const { partition, to, sequences } of slices) {
      const held = partitions.get(partition);
      if (!held) continue;
      advance(held, to, sequences);
      intake.finish(partition, to);
    }
    noteCount(slices, readings.count);
    givenUp = readings.count > 0 ? 0 : givenUp;
    noteDeadLetters(letters, needs);
    work.afterCommit?.(result);
  }

  function moveOf({ partition, from, to, firstKept, sequences }: FreshSlice, { receivedAt }: Readings): CursorMove {
    const gapTo = firstKept > from ? firstKept : null;
    if (gapTo !== null) log.error({ ...name, partition, from: String(from), to: String(gapTo) }, "the log lost records before they were read; the gap is recorded in log_gaps");
    return { partition, from, to, sequences, gapTo, caughtUpTo: provenAfter(receivedAt?.get(partition) ?? 0) };
  }

  /** What PostgreSQL has certainly rolled back is repeated alone: the rows stand. */
  async function commitRepeatedly<T>(commit: () => Promise<T>): Promise<T> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await commit();
      } catch (error) {
        const repeatable = postgresCode(error) === null && !isOutcomeUnknown(error) && decideFailure({ error, failures: 1, partitions: 1, records: 1 }) === "again";
        if (!repeatable || attempt >= COMMITS) throw error;
        await pause(PAUSES_MS[attempt]!);
      }
    }
  }

  function noteCount(slices: readonly FreshSlice[], count: number): void {
    const records = slices.reduce((sum, slice) => sum + slice.records.length, 0);
    if (records > 0) perRecord = 0.9 * perRecord + (0.1 * count) / records;
  }

  // ---- Failures

  async function onFailure({ slices, lane, lease: by }: Batch<Prepared>, error: unknown): Promise<void> {
    const failed = slices.flatMap(({ partition }) => partitions.get(partition) ?? []);
    for (const held of failed) {
      rewind(held);
      held.failures++;
      // The other lane must not take it before it is known what stands.
      held.deciding = true;
      intake.putBack(held.partition, held.next);
    }
    const failures = Math.max(0, ...failed.map((held) => held.failures));
    const records = slices.reduce((sum, slice) => sum + slice.records.length, 0);
    const decision = decideFailure({ error, failures, partitions: slices.length, records });
    log[failures % 10 === 1 ? "warn" : "debug"]({ ...name, partitions: slices.map(({ partition }) => partition), err: reasonOf(error), failures, decision }, "a batch failed");
    try {
      await carryOut(decision, failed, { slices, lane, by, records });
      await locate(failed);
    } catch (cause) {
      log.debug({ ...name, err: reasonOf(cause) }, "what stands could not be told");
      lease = null;
    } finally {
      for (const held of failed) held.deciding = false;
      intake.wake();
    }
  }

  async function carryOut(decision: FailureDecision, failed: HeldPartition[], { slices, lane, by, records }: { slices: FreshSlice[]; lane: Lane; by: string; records: number }): Promise<void> {
    if (decision === "take-over") {
      lease = null;
      intake.wake();
    } else if (decision === "again") await pause(pauseOf(PAUSES_MS, failed[0]?.failures ?? 0));
    else if (decision === "split" && slices.length > 1) {
      for (const held of failed) Object.assign(held, { alone: true, failures: 0 });
    } else {
      for (const held of failed) {
        held.lane = "slow";
        held.notBefore = clock.monotonic() + pauseOf(SLOW_PAUSES_MS, decision === "wait" ? held.failures : 0);
        if (decision === "split") Object.assign(held, { limit: Math.ceil(records / 2), failures: 0 });
        if (decision === "quarantine") await quarantine(held, slices[0]!, { lease: by, lane });
      }
    }
  }

  async function quarantine(held: HeldPartition, slice: FreshSlice, by: { lease: string; lane: Lane }): Promise<void> {
    const record = slice.records[0];
    if (!record) return;
    const culprits = await findCulprits(work, cursors, slice, by);
    if (culprits.size === 0 && held.failures >= GIVEN_UP_AFTER) culprits.set(WHOLE_RECORD, "it fails although none of its entries fails alone");
    givenUp += culprits.size;
    if (givenUp > GIVEN_UP_IN_A_ROW) {
      held.notBefore = clock.monotonic() + GIVEN_UP_PAUSE_MS;
      log.error({ ...name, partition: held.partition, offset: String(record.offset), givenUp }, "one entry after the other fails: look for a fault that is not theirs");
    }
    if (culprits.size > 0) held.left.set(record.offset, new Map([...(held.left.get(record.offset) ?? []), ...culprits]));
  }

  /** Something of a failed batch may stand. */
  async function locate(failed: readonly HeldPartition[]): Promise<void> {
    if (rows === null || lease === null || failed.length === 0) return;
    const standing = await rows.highestStanding(new Map(failed.map(({ partition, next }) => [partition, next])));
    for (const held of failed) held.replayUntil = standing.get(held.partition) ?? -1n;
  }

  // ---- Lanes

  async function runLane(lane: Lane): Promise<void> {
    let ahead: Batch<Prepared> | null = null;
    while (!signal.aborted) {
      if (lease === null && lane === "main") await retakeOver();
      await gate.enter();
      const batch: Batch<Prepared> | null = ahead?.lease === lease ? ahead : takeBatch(lane);
      ahead = null;
      if (batch !== null) {
        lastBatchAt = lane === "main" ? clock.monotonic() : lastBatchAt;
        // Only behind a backlog: a small batch would be cheaper with what comes meanwhile.
        if (lane === "main" && intake.hasRecords(wantedIn(lane))) ahead = takeBatch(lane);
        try {
          await runBatch(batch);
        } catch (error) {
          if (ahead) for (const { partition } of ahead.slices) rewindPartition(partition);
          ahead = null;
          await onFailure(batch, error);
        }
        progressAt = clock.monotonic();
        // A partition may have changed its lane.
        intake.wake();
      }
      gate.leave();
      if (batch === null) {
        // Without a lease there is work: to take one.
        if (lane === "slow" || lease !== null || assigned.size === 0) await moreWork(lane);
      } else if (lane === "main") await due();
    }
  }

  function rewindPartition(partition: number): void {
    const held = partitions.get(partition);
    if (!held) return;
    rewind(held);
    intake.putBack(partition, held.next);
  }

  /** Resolves when there may be something to do. */
  async function moreWork(lane: Lane): Promise<void> {
    const now = clock.monotonic();
    const waits = [...partitions.values()].flatMap((held) => (held.lane === lane && held.notBefore > now ? [held.notBefore - now] : []));
    progressAt = now;
    const cancel = waits.length > 0 ? wakeAfter(Math.min(...waits)) : null;
    await intake.arrival();
    cancel?.();
    // Partitions that were released together hand their records over in the same turn.
    await new Promise((resolve) => setImmediate(resolve));
  }

  function wakeAfter(ms: number): () => void {
    if (options.pause) return (void options.pause(ms).then(intake.wake), () => undefined);
    const timer = setTimeout(intake.wake, ms);
    return () => clearTimeout(timer);
  }

  async function due(): Promise<void> {
    const wait = lastBatchAt + options.everyMs - clock.monotonic();
    if (wait > 0) await pause(wait);
    await options.turn?.();
  }

  /** The log takes an owner that is silent for ten seconds for dead, and a batch may take longer. */
  const alive = setInterval(() => {
    if (clock.monotonic() - progressAt > ALIVE_FOR_MS) return;
    const [batch] = intake.open();
    void batch?.keepAlive();
  }, ALIVE_EVERY_MS);

  const lanes = Promise.all([runLane("main"), runLane("slow")]);

  return {
    async assign(partition) {
      assigned.add(partition);
      await requestTakeover();
      const held = partitions.get(partition);
      if (!held) throw new Error(`partition ${partition} was revoked before it was taken over`);
      expected.set(partition, held.next);
      return held.next;
    },
    revoke(partition) {
      assigned.delete(partition);
      const held = partitions.get(partition);
      if (held) intake.readAgain(partition, held.next);
    },
    async beforeRecords() {
      await due();
      return () => undefined;
    },
    async process(batch) {
      const { partition, records } = batch;
      const read = partitions.get(partition)?.read;
      // Not a gap: the cursor was set back behind what the log had delivered.
      const isBehind = read !== undefined && records[0]!.offset > read && (expected.get(partition) ?? read) > read;
      const next = isBehind ? read : await intake.offer(batch);
      expected.set(partition, next);
      return next;
    },
    verifyLease: () =>
      gate.alone(async () => {
        const known = lease;
        if (known === null || partitions.size === 0) return;
        const next = new Map([...partitions.values()].map((each) => [each.partition, each.next]));
        if ((await cursors.holdsCursors(known, next)) || lease !== known) return;
        lease = null;
        intake.wake();
      }),
    held: () => (lease === null ? null : { lease, next: new Map([...partitions.values()].map(({ partition, next }) => [partition, next])) }),
    eventsPerRecord: () => perRecord,
    async stop() {
      stopping.abort();
      intake.close();
      clearInterval(alive);
      await lanes;
    },
  };
}

