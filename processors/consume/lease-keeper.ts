import { reasonOf } from "./decide-failure.ts";
import type { Gate } from "./gate.ts";
import { heldAfterTakeover, wasKept } from "./held-partition.ts";
import { giveLeaseUp, pauseOf, PAUSES_MS, type RunnerState } from "./runner-state.ts";
import { takeOver } from "./take-over.ts";

/** Keeps one lease for all assigned partitions. */
export interface LeaseKeeper {
  /** Takes all assigned partitions over once the running batches have ended. Calls of the same moment share one. */
  requestTakeover(): Promise<void>;
  /** Takes them over until it succeeds, the runner stops or nothing is assigned. */
  takeOverUntilHeld(): Promise<void>;
  /** Gives the lease up when PostgreSQL says otherwise than this consumer knows. */
  verifyLease(): Promise<void>;
  /** The log delivers from `next` on: with the answer of the call that waits or, when none does, by a request of its own. */
  readAgain(partition: number, next: bigint): void;
}

/** What a gained partition waits for takes so long at most, in ms. */
const READY_MS = 30_000;

/** Without a lease. */
export function makeLeaseKeeper(state: RunnerState, gate: Gate): LeaseKeeper {
  const { name, stores, options, clock, log, assigned, partitions, intake, expected } = state;
  /** A takeover that waits for the running batches, and the one that runs. */
  let requested: Promise<void> | null = null;
  let running: Promise<void> | null = null;

  function requestTakeover(): Promise<void> {
    state.lease = null;
    requested ??= gate.alone(async () => {
      requested = null;
      running = takeAssignedOver().finally(() => (running = null));
      await running;
    });
    return requested;
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
    state.lease = taken.lease;
    intake.wake();
    const replays = [...partitions.values()].filter(({ next, replayUntil }) => next <= replayUntil).length;
    log.debug({ ...name, partitions: wanted, replays }, "partitions taken over");
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

  function readAgain(partition: number, next: bigint): void {
    // What was fetched before may still come first: by `expected` the runner tells it from a gap, so that stays as it is.
    if (intake.readAgain(partition, next) || (expected.get(partition) ?? next) <= next) return;
    options.readAgain?.(partition, next);
  }

  return {
    requestTakeover,
    readAgain,

    async takeOverUntilHeld() {
      while (!state.stopping.signal.aborted && state.lease === null && assigned.size > 0) {
        // Two owners who both believe that a partition is theirs take it from each other: until one of them has had the
        // time for a batch, both wait longer and longer, and not in step.
        await state.pause(pauseOf(PAUSES_MS, state.takeovers++) * (0.5 + Math.random()));
        try {
          await (running ?? requested ?? (state.lease === null ? requestTakeover() : undefined));
        } catch (error) {
          const level = state.takeovers === 1 ? "warn" : "debug";
          log[level]({ ...name, err: reasonOf(error) }, "partitions could not be taken over; it is tried again");
        }
      }
    },

    verifyLease: () =>
      gate.alone(async () => {
        const { lease } = state;
        if (lease === null || partitions.size === 0) return;
        const next = new Map([...partitions.values()].map((held) => [held.partition, held.next]));
        if (!(await stores.cursors.holdsCursors(lease, next)) && state.lease === lease) giveLeaseUp(state);
      }),
  };
}
