import { and, eq } from "drizzle-orm";
import type { Queries } from "../../platform/postgres/database.ts";
import { cursors } from "../../schemas/tables/all.ts";
import { HEARTBEAT_GROUP } from "./consume.ts";

/** Whether every ping below these ends of the partitions has been processed. */
export async function havePingsPassed(queries: Queries, logId: string, ends: readonly bigint[]): Promise<boolean> {
  const { consumerGroup, logId: log, topic, partition, nextOffset } = cursors;
  const rows = await queries
    .select({ partition, nextOffset })
    .from(cursors)
    .where(and(eq(consumerGroup, HEARTBEAT_GROUP), eq(log, logId), eq(topic, "heartbeats")));
  const reached = new Map(rows.map((row) => [row.partition, row.nextOffset]));
  return ends.every((end, index) => (reached.get(index) ?? 0n) >= end);
}
