import type { RecordBatch } from "../../platform/event-log/port.ts";
import { postgresCode } from "../../platform/postgres/database.ts";
import type { BatchOptions, BatchStores, BatchWork, Readings } from "./batch-consumer.ts";
import { makeBatchPace } from "./batch-pace.ts";
import { makeBatchFailures } from "./batch-failures.ts";
import type { ConsumerName } from "./cursor-name.ts";
import { LOCK_WAIT_ALONE_MS, type CursorMove } from "./cursor-store.ts";
import { lettersOf, noteDeadLetters } from "./dead-letter.ts";
import { decideFailure, isOutcomeUnknown } from "./decide-failure.ts";
import type { FreshSlice } from "./fresh-frames.ts";
import { makeGate } from "./gate.ts";
import { advance } from "./held-partition.ts";
import { makeLeaseKeeper } from "./lease-keeper.ts";
import type { ConsumerNeeds } from "./needs.ts";
import type { Lane } from "./row-store.ts";
import { makeRunnerState, PAUSES_MS, rewindPartitions } from "./runner-state.ts";
import { sliceOf } from "./slice-of.ts";
import { provenAfter } from "./watch-ends.ts";

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
  /** Of the takeover that it belongs to. */
  lease: string;
  /** Its partitions are suspects, or slow. */
  apart: boolean;
}

/** A transaction that PostgreSQL rolled back is tried so often before the batch counts as failed. */
const COMMITS = 3;
const ALIVE_EVERY_MS = 1_000;
/** Work that takes longer hangs by itself, on a half-open connection perhaps: then another owner shall have its partitions. */
const ALIVE_FOR_MS = 600_000;

/** A runner without partitions. */
export function makeBatchRunner<Prepared, Stored, Result>(
  needs: ConsumerNeeds,
  name: ConsumerName,
  stores: BatchStores,
  options: BatchOptions,
  work: BatchWork<Prepared, Stored, Result>,
): BatchRunner {
  const { clock, log } = needs;
  const state = makeRunnerState(needs, name, stores, options);
  const { partitions, intake, expected, pause } = state;
  const { signal } = state.stopping;
  const gate = makeGate();
  const keeper = makeLeaseKeeper(state, gate);
  const failures = makeBatchFailures(state, work);
  const pace = makeBatchPace({ everyMs: options.everyMs, quietMs: options.quietMs ?? 0, now: () => clock.monotonic() });
  let lastBatchAt = -Infinity;
  let tick: Promise<void> | null = null;
  let perRecord = 1;

  /** The slow lane takes one partition at a time; the main lane some suspects, while it looks for the one that fails. */
  function wantedIn(lane: Lane): (partition: number) => boolean {
    const now = clock.monotonic();
    const ofLane = (partition: number): boolean => {
      const held = partitions.get(partition);
      return held !== undefined && held.lane === lane && !held.deciding && held.notBefore <= now;
    };
    const first = [...partitions.values()].find(({ partition, suspects }) => ofLane(partition) && (suspects > 0 || lane === "slow") && intake.hasRecords((each) => each === partition));
    if (!first) return ofLane;
    if (lane === "slow") return (partition) => partition === first.partition;
    return (partition) => ofLane(partition) && partitions.get(partition)!.suspects === first.suspects;
  }

  function takeBatch(lane: Lane): Batch<Prepared> | null {
    const { lease } = state;
    if (lease === null) return null;
    const records = intake.take(options.limits, wantedIn(lane), (partition) => partitions.get(partition)!.limit);
    const slices = [...records].flatMap(([partition, taken]) => {
      const held = partitions.get(partition)!;
      return sliceOf(held, taken, name.group, (reason) => failures.waitForNewer(held, reason)) ?? [];
    });
    for (const partition of records.keys()) {
      const { next, read } = partitions.get(partition)!;
      intake.putBack(partition, read);
      intake.finish(partition, next);
    }
    if (slices.length === 0) return null;
    const prepared = work.prepare(slices, null);
    prepared.catch(() => undefined);
    const apart = lane === "slow" || slices.every(({ partition }) => partitions.get(partition)!.suspects > 0);
    return { lane, slices, prepared, lease, apart };
  }

  async function runBatch({ slices, lane, prepared, lease, apart }: Batch<Prepared>): Promise<void> {
    const readings = await prepared;
    await options.onStep?.("prepared");
    const stored = await work.store(readings, slices, { by: { lease, lane }, only: null });
    await options.onStep?.("inserted");
    const letters = lettersOf(name, slices, readings.unreadable, stores.rows !== null);
    const moves = slices.map((slice) => moveOf(slice, readings));
    const commit = { lease, moves, letters, ...(apart && { lockWaitMs: LOCK_WAIT_ALONE_MS }) };
    const result = await commitRepeatedly(() => stores.cursors.commitBatch(commit, (transaction) => work.apply(transaction, stored)));
    await options.onStep?.("committed");
    for (const { partition, to, sequences } of slices) {
      const held = partitions.get(partition);
      if (held) advance(held, to, sequences);
      intake.finish(partition, to);
    }
    state.takeovers = 0;
    noteProcessed(slices, readings.count);
    noteDeadLetters(letters, needs);
    work.afterCommit?.(result);
  }

  function moveOf({ partition, from, to, firstKept, sequences }: FreshSlice, { receivedAt }: Readings): CursorMove {
    const gapTo = firstKept > from ? firstKept : null;
    if (gapTo !== null) log.error({ ...name, partition, from: String(from), to: String(gapTo) }, "the log lost records before they were read; the gap is recorded in log_gaps");
    return { partition, from, to, sequences, gapTo, caughtUpTo: provenAfter(receivedAt?.get(partition) ?? 0) };
  }

  /** What our own code refused for now, and PostgreSQL rolled back, is repeated alone: the rows stand. */
  async function commitRepeatedly<T>(commit: () => Promise<T>): Promise<T> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await commit();
      } catch (error) {
        const isOurs = postgresCode(error) === null && !isOutcomeUnknown(error);
        const isRepeatable = isOurs && decideFailure({ error, failures: 1, partitions: 1, records: 1 }) === "again";
        if (!isRepeatable || attempt >= COMMITS) throw error;
        await pause(PAUSES_MS[attempt]!);
      }
    }
  }

  function noteProcessed(slices: readonly FreshSlice[], count: number): void {
    const records = slices.reduce((sum, slice) => sum + slice.records.length, 0);
    pace.note(count);
    if (records > 0) perRecord = 0.9 * perRecord + (0.1 * count) / records;
    if (count > 0) failures.noteSuccess();
  }

  async function runLane(lane: Lane): Promise<void> {
    let ahead: Batch<Prepared> | null = null;
    while (!signal.aborted) {
      if (state.lease === null && lane === "main") await keeper.takeOverUntilHeld();
      await gate.enter();
      const batch: Batch<Prepared> | null = ahead?.lease === state.lease ? ahead : takeBatch(lane);
      if (batch !== null) ahead = await runAndReadAhead(batch);
      else ahead = null;
      gate.leave();
      if (batch !== null && lane === "main") await due().then(nextTurn);
      // Without a lease there is work: to take one.
      if (batch === null && (lane === "slow" || state.lease !== null || state.assigned.size === 0)) await moreWork(lane);
    }
  }

  /** Gives the next batch, when it was read meanwhile: only behind a backlog, a small one is cheaper with what still comes. */
  async function runAndReadAhead(batch: Batch<Prepared>): Promise<Batch<Prepared> | null> {
    const { lane, slices, lease } = batch;
    // Partitions that are tried one by one would each wait for all before them.
    if (!batch.apart) lastBatchAt = clock.monotonic();
    const ahead = lane === "main" && intake.hasRecords(wantedIn(lane)) ? takeBatch(lane) : null;
    try {
      await runBatch(batch);
      return ahead;
    } catch (error) {
      if (ahead) rewindPartitions(state, ahead.slices.map(({ partition }) => partition));
      await failures.onFailure({ slices, by: { lease, lane } }, error);
      return null;
    } finally {
      state.progressAt = clock.monotonic();
      // A partition may have changed its lane.
      intake.wake();
    }
  }

  /** Resolves when there may be something to do. */
  async function moreWork(lane: Lane): Promise<void> {
    const now = clock.monotonic();
    const waits = [...partitions.values()].flatMap((held) => (held.lane === lane && held.notBefore > now ? [held.notBefore - now] : []));
    state.progressAt = now;
    // A partition whose pause ended since this lane looked is in no wait: without this nobody would wake the lane.
    if (state.lease !== null && intake.hasRecords(wantedIn(lane))) return nextTurn();
    const cancel = waits.length > 0 ? wakeAfter(Math.min(...waits)) : null;
    await intake.arrival();
    cancel?.();
    // Partitions that were released together hand their records over in the same turn.
    await nextTurn();
  }

  function wakeAfter(ms: number): () => void {
    if (options.pause) return (void options.pause(ms).then(intake.wake), () => undefined);
    const timer = setTimeout(intake.wake, ms);
    return () => clearTimeout(timer);
  }

  /** One wait for all: a partition that is released one ms after the others would miss the batch. Those released hand over in the same turn. */
  function due(): Promise<void> {
    tick ??= untilDue().finally(() => {
      tick = null;
    });
    return tick;
  }

  async function untilDue(): Promise<void> {
    const wait = lastBatchAt + pace.pauseMs() - clock.monotonic();
    if (wait > 0) await pause(wait);
    await options.turn?.();
  }

  /** The log takes an owner that is silent for ten seconds for dead, and a batch may take longer. Runs while there is one. */
  let alive: NodeJS.Timeout | null = null;

  function keepAlive(): void {
    alive ??= setInterval(() => {
      const [batch] = intake.open();
      if (!batch) return endAlive();
      if (clock.monotonic() - state.progressAt <= ALIVE_FOR_MS) void batch.keepAlive();
    }, ALIVE_EVERY_MS);
  }

  function endAlive(): void {
    if (alive) clearInterval(alive);
    alive = null;
  }

  const lanes = Promise.all([runLane("main"), runLane("slow")]);

  return {
    async assign(partition) {
      state.assigned.add(partition);
      await keeper.requestTakeover();
      const held = partitions.get(partition);
      if (!held) throw new Error(`partition ${partition} was revoked before it was taken over`);
      expected.set(partition, held.next);
      return held.next;
    },
    revoke(partition) {
      state.assigned.delete(partition);
      const held = partitions.get(partition);
      if (held) intake.readAgain(partition, held.next);
    },
    async beforeRecords() {
      await due();
      return () => undefined;
    },
    async process(batch) {
      // The log would hand the same records over again at once, and the last batch would never get its turn.
      if (signal.aborted) await lanes;
      const { partition, records } = batch;
      const read = partitions.get(partition)?.read;
      // Not a gap: the cursor was set back behind what the log had delivered.
      const isBehind = read !== undefined && records[0]!.offset > read && (expected.get(partition) ?? read) > read;
      if (!isBehind) keepAlive();
      const next = isBehind ? read : await intake.offer(batch);
      expected.set(partition, next);
      return next;
    },
    held: () => (state.lease === null ? null : { lease: state.lease, next: new Map([...partitions.values()].map(({ partition, next }) => [partition, next])) }),
    eventsPerRecord: () => perRecord,
    verifyLease: keeper.verifyLease,
    async stop() {
      state.stopping.abort();
      intake.close();
      endAlive();
      await lanes;
    },
  };
}

function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
