import { deleteRows, type WaitNeeds } from "../../platform/clickhouse/delete-rows.ts";
import type { ClickHouse } from "../../platform/clickhouse/port.ts";
import { stringLiteral } from "../../platform/clickhouse/tokens.ts";

const KEPT_DAYS = 7;

/** Fences named in one statement; the others are for the next run. */
const MOST = 5_000;

/**
 * Deletes fences of consumers that were replaced more than 7 days ago. The highest epoch of each partition stays, whatever its age: inserts are checked
 * against it. Fences are named one by one, so one that is taken meanwhile is not among them. Returns how many went.
 */
export async function forgetFences(clickhouse: ClickHouse, now: Date, waiting: WaitNeeds): Promise<number> {
  const fences = await clickhouse.query<{ group: string; log: string; partition: number; epoch: string }>(
    `SELECT consumer_group AS group, log_id AS log, partition, epoch FROM insert_fences AS fence
     INNER JOIN (SELECT consumer_group, log_id, partition, max(epoch) AS highest FROM insert_fences GROUP BY consumer_group, log_id, partition) AS newest
       USING (consumer_group, log_id, partition)
     WHERE epoch < highest GROUP BY group, log, partition, epoch HAVING max(taken_at) < fromUnixTimestamp64Milli({before:Int64}, 'UTC') LIMIT ${MOST}`,
    { before: String(now.getTime() - KEPT_DAYS * 86_400_000) },
  );
  if (fences.length === 0) return 0;
  const tuples = fences.map(({ group, log, partition, epoch }) => `(${stringLiteral(group)}, ${stringLiteral(log)}, ${partition}, ${epoch})`);
  await deleteRows(clickhouse, { table: "insert_fences", partitionId: "all", where: `(consumer_group, log_id, partition, epoch) IN (${tuples.join(", ")})` }, waiting);
  return fences.length;
}
