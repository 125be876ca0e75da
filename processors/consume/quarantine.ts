import { decodeFrame } from "../../platform/event-log/frame.ts";
import type { BatchWork } from "./batch-consumer.ts";
import type { CursorStore } from "./cursor-store.ts";
import { decideFailure, reasonOf } from "./decide-failure.ts";
import type { FreshSlice } from "./fresh-frames.ts";
import type { Inserter } from "./row-store.ts";

/**
 * Tries the entries of the one record of a slice one by one: their rows are inserted, their effect is rolled back. Gives
 * those that fail alone, with their reasons. Rejects when an entry failed for a reason that is not its own.
 */
export async function findCulprits<Prepared, Stored>(
  work: Pick<BatchWork<Prepared, Stored, unknown>, "prepare" | "store" | "apply">,
  cursors: CursorStore,
  slice: FreshSlice,
  by: Inserter,
): Promise<Map<number, string>> {
  const culprits = new Map<number, string>();
  const { entries } = decodeFrame(slice.records[0]!.value);
  for (const entryIndex of entries.keys()) {
    const tried = [{ ...slice, replays: true }];
    try {
      const prepared = await work.prepare(tried, entryIndex);
      const stored = await work.store(prepared, tried, { by, only: entryIndex });
      await cursors.tryEffect((transaction) => work.apply(transaction, stored));
    } catch (error) {
      const decision = decideFailure({ error, failures: Infinity, partitions: 1, records: 1 });
      if (decision !== "quarantine") throw error;
      culprits.set(entryIndex, reasonOf(error));
    }
  }
  return culprits;
}
