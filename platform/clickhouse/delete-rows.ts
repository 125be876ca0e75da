import { setTimeout as pause } from "node:timers/promises";
import type { ClickHouse } from "./port.ts";
import { quotedName, stringLiteral } from "./tokens.ts";

const POLL_MS = 1_000;

/** A mutation that fails for so long is ended, so that the table's next one is not stuck behind it. */
const FAILING_MS = 10 * 60_000;

export interface WaitNeeds {
  signal: AbortSignal;
  /** Called before each look: may throw, to stop waiting. */
  onWait?(): Promise<void>;
  pollMs?: number;
}

/**
 * Deletes the rows of one partition for which `where` holds, by ONE mutation, and waits until it is done by asking, because a statement
 * ends after two minutes and a mutation may take longer. It is ClickHouse's own background work: inserts and queries do not wait for it, and a
 * death of ours does not end it. A mutation that is under way on the table, of an earlier run say, is waited for first.
 *
 * Why not something cheaper: a lightweight DELETE only hides rows until a merge, which a large part may never meet, and rebuilds projections
 * all the same. A mutation reads each part of the partition, hard-links those without such rows, and rewrites the others with their projections;
 * without replication it hard-links the other partitions' parts too. So a mutation for many organizations costs no more than one for a single organization.
 *
 * Rejects with the signal's reason when it is aborted, and with the mutation's own error when that fails for ten minutes.
 */
export async function deleteRows(clickhouse: ClickHouse, { table, partitionId, where }: { table: string; partitionId: string; where: string }, needs: WaitNeeds): Promise<void> {
  await untilMutated(clickhouse, table, needs);
  await clickhouse.command(`ALTER TABLE ${quotedName(table)} DELETE IN PARTITION ID ${stringLiteral(partitionId)} WHERE ${where} SETTINGS mutations_sync = 0`);
  await untilMutated(clickhouse, table, needs);
}

/** Until no mutation of a table is unfinished. */
async function untilMutated(clickhouse: ClickHouse, table: string, { signal, onWait, pollMs = POLL_MS }: WaitNeeds): Promise<void> {
  for (const began = performance.now(); ; ) {
    signal.throwIfAborted();
    await onWait?.();
    const unfinished = await clickhouse.query<{ id: string; failure: string }>(
      `SELECT mutation_id AS id, latest_fail_reason AS failure FROM system.mutations WHERE database = currentDatabase() AND table = {table:String} AND NOT is_done`,
      { table },
    );
    if (unfinished.length === 0) return;
    const failing = unfinished.find(({ failure }) => failure !== "");
    if (failing && performance.now() - began > FAILING_MS) {
      await clickhouse.command("KILL MUTATION WHERE database = currentDatabase() AND table = {table:String} AND mutation_id = {id:String}", { table, id: failing.id });
      throw new Error(`rows of ${table} could not be deleted: ${failing.failure}`);
    }
    await pause(pollMs, undefined, { signal });
  }
}

/** Drops a partition whatever its size: ClickHouse refuses those above 50 GB unless told. */
export async function dropPartition(clickhouse: ClickHouse, table: string, partitionId: string): Promise<void> {
  await clickhouse.command(`ALTER TABLE ${quotedName(table)} DROP PARTITION ID ${stringLiteral(partitionId)} SETTINGS max_partition_size_to_drop = 0`);
}
