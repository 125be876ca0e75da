import { sql } from "drizzle-orm";
import type { Queries } from "../../platform/postgres/database.ts";
import { cursors, edges } from "../../schemas/tables/all.ts";
import { HEARTBEAT_GROUP } from "./consume.ts";

/** An edge that vanished may still hold frames; it is waited for so long. */
const EDGE_REMEMBERED_MS = 10 * 60_000;

/** Edges tell of themselves every 5 s at least; when none has for so long, nobody was there to take a ping. */
const EDGE_ALIVE_MS = 30_000;

/** Clocks of two machines may differ by so much. What is dated later yet was dated by a clock that is wrong, or was since put back. */
const CLOCK_SKEW_MS = 30_000;

/**
 * The moment before which every ping that was received has certainly been processed, or null when nothing is certain:
 * a partition without a cursor, no edge alive, or moments in the future, which prove nothing. Never later than `now`. Only then may a ping that is missing count as one that did not come.
 * Edges write to the first `partitions` partitions; those that were added to the topic while Pharos runs hold nothing and say nothing.
 */
export async function readProvenUpTo(queries: Queries, { logId, partitions, now }: { logId: string; partitions: number; now: Date }): Promise<Date | null> {
  const before = (ms: number) => sql`${new Date(now.getTime() - ms).toISOString()}::timestamptz`;
  const { rows } = await queries.execute<{ proven: string | null }>(sql`
    select least(cursor.caught_up_to, edge.oldest_unsent_at, ${before(0)}) as proven
    from
      (select min(caught_up_to) as caught_up_to, count(caught_up_to) filter (where caught_up_to < ${before(-CLOCK_SKEW_MS)}) as partitions from ${cursors}
        where consumer_group = ${HEARTBEAT_GROUP} and log_id = ${logId} and topic = 'heartbeats' and partition < ${partitions}) as cursor,
      (select min(oldest_unsent_at) as oldest_unsent_at, max(seen_at) filter (where seen_at < ${before(-CLOCK_SKEW_MS)}) as seen_at from ${edges} where seen_at > ${before(EDGE_REMEMBERED_MS)}) as edge
    where cursor.partitions = ${partitions} and edge.seen_at > ${before(EDGE_ALIVE_MS)}`);
  const proven = rows[0]?.proven ?? null;
  return proven === null ? null : new Date(proven);
}
