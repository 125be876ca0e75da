import { newId } from "../../platform/ids.ts";
import type { CursorStore, TakenCursor } from "./cursor-store.ts";
import type { RowStore } from "./row-store.ts";

/** One lease for all partitions of a consumer. */
export interface Takeover {
  lease: string;
  cursors: Map<number, TakenCursor & Replay>;
}

interface Replay {
  /** The highest offset of which rows stand at or above the cursor; -1 when none do. Up to it the partition replays. */
  replayUntil: bigint;
}

/** Called after each step; for tests that stop the process between two. */
export type OnTakeoverStep = (step: "leased" | "fenced" | "alone" | "located") => Promise<void> | void;

/**
 * Makes this consumer the only one that changes anything of these partitions, and finds out what stands of them.
 * `rows` is null for a consumer that writes to PostgreSQL alone.
 *
 * 1. ClickHouse: read the highest fence epochs, which a restored PostgreSQL may not know.
 * 2. PostgreSQL: take the cursors. From here on older leases cannot commit.
 * 3. ClickHouse: raise the fences. From here on older leases cannot begin an insert.
 * 4. ClickHouse: end the inserts of older leases. From here on only this lease inserts.
 * 5. ClickHouse: read up to where rows stand.
 */
export async function takeOver(
  { cursors, rows }: { cursors: CursorStore; rows: RowStore | null },
  partitions: readonly number[],
  onStep?: OnTakeoverStep,
): Promise<Takeover> {
  const lease = newId();
  const sorted = partitions.toSorted((one, other) => one - other);
  const fenceEpochs = rows ? await rows.readFenceEpochs(sorted) : new Map<number, bigint>();
  const taken = await cursors.takeCursors(lease, sorted, fenceEpochs);
  await onStep?.("leased");
  if (rows) {
    await rows.raiseFences(lease, new Map([...taken].map(([partition, { epoch }]) => [partition, epoch])));
    await onStep?.("fenced");
    const legacy = [...taken.values()].flatMap(({ legacyInsert }) => (legacyInsert === null ? [] : [legacyInsert]));
    await rows.endOlderInserts(lease, sorted, legacy);
    await onStep?.("alone");
  }
  const standing = rows ? await rows.highestStanding(new Map([...taken].map(([partition, { nextOffset }]) => [partition, nextOffset]))) : new Map<number, bigint>();
  await onStep?.("located");
  return { lease, cursors: new Map([...taken].map(([partition, cursor]) => [partition, { ...cursor, replayUntil: standing.get(partition) ?? -1n }])) };
}
