import { WHOLE_RECORD } from "../../domain/dead-letters/record-dead-letters.ts";
import type { BatchWork } from "./batch-consumer.ts";
import { decideFailure, reasonOf, type FailureDecision } from "./decide-failure.ts";
import type { FreshSlice } from "./fresh-frames.ts";
import type { HeldPartition } from "./held-partition.ts";
import { findCulprits } from "./quarantine.ts";
import type { Inserter } from "./row-store.ts";
import { giveLeaseUp, pauseOf, PAUSES_MS, rewindPartitions, type RunnerState } from "./runner-state.ts";

/** Carries out what is decided about batches that failed. */
export interface BatchFailures {
  /** What the batch held is taken again, in whichever form was decided. Never rejects. */
  onFailure(batch: FailedBatch, error: unknown): Promise<void>;
  /** A newer version of Pharos wrote what comes next: the partition waits, and says so. */
  waitForNewer(held: HeldPartition, reason: string): void;
  /** Something was processed: not everything fails. */
  noteSuccess(): void;
}

/** A batch, by whom it was inserted. */
export interface FailedBatch {
  slices: readonly FreshSlice[];
  by: Inserter;
}

/** A partition that fails by itself is tried again after these times, in ms. */
const SLOW_PAUSES_MS = [200, 1_000, 5_000, 30_000];
/** When so many entries in a row had to be given up, the fault is hardly theirs: from then on one at a time, and slowly. */
const GIVEN_UP_IN_A_ROW = 100;
const GIVEN_UP_PAUSE_MS = 30_000;
/** A record of which no entry fails alone is given up as a whole after so many failures. */
const GIVEN_UP_AFTER = 6;

/** Without failures up to now. */
export function makeBatchFailures<Prepared, Stored>(
  state: RunnerState,
  work: Pick<BatchWork<Prepared, Stored, unknown>, "prepare" | "store" | "apply">,
): BatchFailures {
  const { name, stores, clock, log, partitions, intake } = state;
  /** Entries that became dead letters since something was processed. */
  let givenUp = 0;
  let lastSuspects = 0;

  async function carryOut(decision: FailureDecision, failed: HeldPartition[], { slices, by }: FailedBatch): Promise<void> {
    if (decision === "take-over") return giveLeaseUp(state);
    if (decision === "again") return state.pause(pauseOf(PAUSES_MS, failed[0]?.failures ?? 0));
    if (decision === "split" && slices.length > 1) {
      const half = Math.ceil(failed.length / 2);
      const [one, other] = [++lastSuspects, ++lastSuspects];
      for (const [at, held] of failed.entries()) Object.assign(held, { suspects: at < half ? one : other, failures: 0 });
      return;
    }
    for (const held of failed) {
      held.lane = "slow";
      held.notBefore = clock.monotonic() + pauseOf(SLOW_PAUSES_MS, decision === "wait" ? held.failures : 0);
      if (decision === "split") Object.assign(held, { limit: Math.ceil(slices[0]!.records.length / 2), failures: 0 });
      if (decision === "quarantine") await quarantineRecord(held, slices[0]!, by);
    }
  }

  async function quarantineRecord(held: HeldPartition, slice: FreshSlice, by: Inserter): Promise<void> {
    const record = slice.records[0];
    if (!record) return;
    const culprits = await findCulprits(work, stores.cursors, slice, by);
    if (culprits.size === 0 && held.failures >= GIVEN_UP_AFTER) {
      culprits.set(WHOLE_RECORD, "it fails although none of its entries fails alone");
    }
    givenUp += culprits.size;
    if (givenUp > GIVEN_UP_IN_A_ROW) {
      held.notBefore = clock.monotonic() + GIVEN_UP_PAUSE_MS;
      log.error({ ...name, partition: held.partition, offset: String(record.offset), givenUp }, "one entry after the other fails: look for a fault that is not theirs");
    }
    if (culprits.size > 0) held.left.set(record.offset, new Map([...(held.left.get(record.offset) ?? []), ...culprits]));
  }

  /** Something of a failed batch may stand. */
  async function locateStanding(failed: readonly HeldPartition[]): Promise<void> {
    if (stores.rows === null || state.lease === null || failed.length === 0) return;
    const standing = await stores.rows.highestStanding(new Map(failed.map(({ partition, next }) => [partition, next])));
    for (const held of failed) held.replayUntil = standing.get(held.partition) ?? -1n;
  }

  return {
    async onFailure(batch, error) {
      const { slices } = batch;
      const failed = slices.flatMap(({ partition }) => partitions.get(partition) ?? []);
      for (const held of failed) {
        held.failures++;
        // The other lane must not take it before it is known what stands.
        held.deciding = true;
      }
      rewindPartitions(state, failed.map(({ partition }) => partition));
      const failures = Math.max(0, ...failed.map((held) => held.failures));
      const records = slices.reduce((sum, slice) => sum + slice.records.length, 0);
      // Suspects are halved until one is left: the batch that they come from was tried often enough.
      const isSuspect = slices.length > 1 && failed.every(({ suspects }) => suspects > 0);
      const decision = decideFailure({ error, failures: isSuspect ? Infinity : failures, partitions: slices.length, records });
      const level = failures % 10 === 1 ? "warn" : "debug";
      log[level]({ ...name, partitions: slices.map(({ partition }) => partition), err: reasonOf(error), failures, decision }, "a batch failed");
      try {
        await carryOut(decision, failed, batch);
        await locateStanding(failed);
      } catch (cause) {
        log.debug({ ...name, err: reasonOf(cause) }, "what stands could not be told");
        giveLeaseUp(state);
      } finally {
        for (const held of failed) held.deciding = false;
        intake.wake();
      }
    },

    waitForNewer(held, reason) {
      held.lane = "slow";
      held.notBefore = clock.monotonic() + pauseOf(SLOW_PAUSES_MS, held.failures++);
      log.error({ ...name, partition: held.partition, offset: String(held.next), reason }, "a partition waits for a newer version of Pharos");
    },

    noteSuccess: () => void (givenUp = 0),
  };
}
