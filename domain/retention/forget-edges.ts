import { sql } from "drizzle-orm";
import type { Database } from "../../platform/postgres/database.ts";
import { edges, frameSequences } from "../../schemas/tables/all.ts";

/**
 * An edge that was not seen for so long is gone, and no frame of it can arrive any more: Kafka keeps them for 7 days, and a spool that was left behind is
 * adopted within a month or holds what nobody misses. Late-finding asks for edges of the last 10 minutes only.
 */
const GONE_DAYS = 30;

const BATCH = 1_000;

/** Forgets edges that are gone and then the numbers of their last frames, in small batches. Returns how many rows went. */
export async function forgetEdges(database: Database, now: Date, onBatch: () => Promise<void>): Promise<number> {
  const before = sql`${new Date(now.getTime() - GONE_DAYS * 86_400_000).toISOString()}::timestamptz`;
  const statements = [
    sql`delete from ${edges} where id in (select id from ${edges} where seen_at < ${before} order by seen_at limit ${BATCH})`,
    // Asked again of the row that is deleted: a frame that is counted meanwhile makes it young.
    sql`delete from ${frameSequences} where updated_at < ${before} and ctid = any (array(
      select sequence.ctid from ${frameSequences} as sequence
      where sequence.updated_at < ${before} and not exists (select from ${edges} where edges.id = sequence.edge_id) limit ${BATCH}))`,
  ];
  let forgotten = 0;
  for (const statement of statements) {
    for (let more = true; more; ) {
      await onBatch();
      const { rowCount } = await database.execute(statement);
      forgotten += rowCount ?? 0;
      more = rowCount === BATCH;
    }
  }
  return forgotten;
}
