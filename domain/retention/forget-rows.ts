import { deleteRows, dropPartition, type WaitNeeds } from "../../platform/clickhouse/delete-rows.ts";
import type { ClickHouse } from "../../platform/clickhouse/port.ts";
import { stringLiteral } from "../../platform/clickhouse/tokens.ts";
import { cutoffOf, MOST_DAYS, partitionBounds, planPartition } from "./plan-partition.ts";
import type { RetentionBounds } from "./read-bounds.ts";
import type { RetainedTable } from "./retained-tables.ts";

/** Also of what was deleted, rows so young stay until the next run: an insert of a consumer may be under way. */
const YOUNG_MS = 2 * 60 * 60_000;

/** Ids in one statement. */
const MOST_IDS = 5_000;

/** Counting reads two columns of a month: with one thread, so that it leaves the others to whoever asks meanwhile. */
const COUNTING = { timeoutMs: 110_000 };
const ONE_THREAD = "SETTINGS max_threads = 1";

export interface ForgottenRows {
  table: string;
  rows: number;
  /** By which the table's active parts shrank; approximate, because others insert meanwhile. */
  bytes: number;
  partitionsDropped: number;
  mutations: number;
}

/** Rows whose `column` is one of `ids` and that are from before `before`, in ms. */
interface Doomed {
  column: string;
  ids: string[];
  before: number;
}

/**
 * Deletes the rows of one table that are older than their organization's retention, and those of deleted services or monitors, partition by
 * partition, the oldest first. Nothing is sent to a partition in which nothing would be deleted. Rejects with the signal's reason when it is aborted; run
 * again, it goes on with what is left.
 */
export async function forgetRows(clickhouse: ClickHouse, table: RetainedTable, { bounds, now, ...waiting }: { bounds: RetentionBounds; now: Date } & WaitNeeds): Promise<ForgottenRows> {
  const forgotten: ForgottenRows = { table: table.table, rows: 0, bytes: 0, partitionsDropped: 0, mutations: 0 };
  const ofDeleted = await findDeleted(clickhouse, table, bounds.deleted[table.owner.kind], now);
  for (const partition of await readPartitions(clickhouse, table.table)) {
    await waiting.onWait?.();
    const plan = await planFor(clickhouse, table, partition.id, bounds, now);
    waiting.signal.throwIfAborted();
    if (plan.kind === "drop") {
      await dropPartition(clickhouse, table.table, partition.id);
      forgotten.partitionsDropped++;
      forgotten.rows += partition.rows;
      forgotten.bytes += partition.bytes;
      continue;
    }
    const expired = plan.kind === "delete" ? plan.expired.map(({ before, holders }): Doomed => ({ column: table.holder, ids: holders, before })) : [];
    const deleted = ofDeleted.get(partition.id) ?? [];
    const doomed = [...expired, { column: table.owner.column, ids: deleted, before: now.getTime() - YOUNG_MS }];
    for (const where of conditions(table, doomed)) {
      forgotten.rows += await countRows(clickhouse, table.table, partition.id, where);
      await deleteRows(clickhouse, { table: table.table, partitionId: partition.id, where }, waiting);
      forgotten.mutations++;
    }
    if (expired.length + deleted.length > 0) forgotten.bytes += Math.max(0, partition.bytes - (await bytesOf(clickhouse, table.table, partition.id)));
  }
  return forgotten;
}

interface Partition {
  id: string;
  rows: number;
  bytes: number;
}

async function readPartitions(clickhouse: ClickHouse, table: string): Promise<Partition[]> {
  const rows = await clickhouse.query<{ id: string; rows: string; bytes: string }>(
    `SELECT partition_id AS id, sum(rows) AS rows, sum(bytes_on_disk) AS bytes FROM system.parts
     WHERE database = currentDatabase() AND table = {table:String} AND active GROUP BY id ORDER BY id`,
    { table },
  );
  return rows.map(({ id, rows: count, bytes }) => ({ id, rows: Number(count), bytes: Number(bytes) }));
}

async function bytesOf(clickhouse: ClickHouse, table: string, partitionId: string): Promise<number> {
  return (await readPartitions(clickhouse, table)).find(({ id }) => id === partitionId)?.bytes ?? 0;
}

async function planFor(clickhouse: ClickHouse, { table, time, holder }: RetainedTable, partitionId: string, bounds: RetentionBounds, now: Date): Promise<ReturnType<typeof planPartition>> {
  const days = holder === "organization_id" ? bounds.organizations : bounds.services;
  const shortest = Math.min(MOST_DAYS, ...days.values());
  // A young month needs not be read.
  if (partitionBounds(partitionId).from >= cutoffOf(shortest, now)) return { kind: "keep" };
  const holders = await clickhouse.query<{ id: string; oldest: string }>(
    `SELECT toString(${holder}) AS id, toUnixTimestamp64Milli(min(${time})) AS oldest FROM ${table} WHERE _partition_id = {partitionId:String} GROUP BY ${holder} ${ONE_THREAD}`,
    { partitionId },
    COUNTING,
  );
  return planPartition({ partitionId, holders: holders.map(({ id, oldest }) => ({ id, oldest: Number(oldest) })), days, now });
}

/** Which of the deleted have rows that may go, by partition. */
async function findDeleted(clickhouse: ClickHouse, { table, time, owner }: RetainedTable, ids: string[], now: Date): Promise<Map<string, string[]>> {
  const found = new Map<string, string[]>();
  for (const some of pieces(ids)) {
    const where = condition(time, { column: owner.column, ids: some, before: now.getTime() - YOUNG_MS });
    const rows = await clickhouse.query<{ partition: string; id: string }>(`SELECT DISTINCT _partition_id AS partition, toString(${owner.column}) AS id FROM ${table} WHERE ${where} ${ONE_THREAD}`, {}, COUNTING);
    for (const { partition, id } of rows) found.set(partition, [...(found.get(partition) ?? []), id]);
  }
  return found;
}

async function countRows(clickhouse: ClickHouse, table: string, partitionId: string, where: string): Promise<number> {
  const [row] = await clickhouse.query<{ rows: string }>(`SELECT count() AS rows FROM ${table} WHERE _partition_id = {partitionId:String} AND (${where}) ${ONE_THREAD}`, { partitionId }, COUNTING);
  return Number(row!.rows);
}

/** Conditions of mutations: one in all but the largest installations, because a mutation reads all parts, however few rows it is for. */
function conditions({ time }: RetainedTable, doomed: Doomed[]): string[] {
  const bundles: { count: number; parts: string[] }[] = [];
  for (const { ids, ...rest } of doomed) {
    for (const some of pieces(ids)) {
      const last = bundles.at(-1);
      const bundle = last && last.count + some.length <= MOST_IDS ? last : { count: 0, parts: [] };
      if (bundle !== last) bundles.push(bundle);
      bundle.count += some.length;
      bundle.parts.push(condition(time, { ids: some, ...rest }));
    }
  }
  return bundles.map(({ parts }) => parts.join(" OR "));
}

function condition(time: string, { column, ids, before }: Doomed): string {
  return `(${column} IN (${ids.map(stringLiteral).join(", ")}) AND ${time} < fromUnixTimestamp64Milli(${before}, 'UTC'))`;
}

function pieces(ids: string[]): string[][] {
  return Array.from({ length: Math.ceil(ids.length / MOST_IDS) }, (_, n) => ids.slice(n * MOST_IDS, (n + 1) * MOST_IDS));
}
