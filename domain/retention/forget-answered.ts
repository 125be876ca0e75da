import { sql, type SQL } from "drizzle-orm";
import type { Database } from "../../platform/postgres/database.ts";
import { beaconKeys, dailyCreations, deadLetters, heartbeatMonitors } from "../../schemas/tables/all.ts";

const LETTERS_DAYS = 90;
const CREATIONS_DAYS = 3;
const DELETED_DAYS = 30;

/** Letters hold records of up to some MiB. */
const BATCH = 100;

/** Deletes dead letters that were replayed or discarded 90 days ago. What waits for an answer stays for ever. Returns how many went. */
export function forgetAnsweredLetters(database: Database, now: Date, onBatch: () => Promise<void>): Promise<number> {
  const before = sql`${daysAgo(now, LETTERS_DAYS)}::timestamptz`;
  return inBatches(database, onBatch, sql`delete from ${deadLetters} where id in (
    select id from ${deadLetters} where state in ('replayed', 'discarded') and answered_at < ${before} limit ${BATCH})`);
}

/** Deletes counts of what was made newly on days that are over: only today's bound anything. Returns how many went. */
export function forgetDailyCreations(database: Database, now: Date, onBatch: () => Promise<void>): Promise<number> {
  return inBatches(database, onBatch, sql`delete from ${dailyCreations} where ctid = any (array(
    select ctid from ${dailyCreations} where day < ${daysAgo(now, CREATIONS_DAYS).slice(0, 10)}::date limit ${BATCH}))`);
}

/** Deletes heartbeat monitors and beacon keys that were deleted 30 days ago; their rows stayed so that edges heard of it. Returns how many went. */
export async function forgetDeleted(database: Database, now: Date, onBatch: () => Promise<void>): Promise<number> {
  const before = sql`${daysAgo(now, DELETED_DAYS)}::timestamptz`;
  let deleted = 0;
  for (const table of [heartbeatMonitors, beaconKeys]) {
    deleted += await inBatches(database, onBatch, sql`delete from ${table} where id in (select id from ${table} where deleted_at < ${before} limit ${BATCH})`);
  }
  return deleted;
}

function daysAgo(now: Date, days: number): string {
  return new Date(now.getTime() - days * 86_400_000).toISOString();
}

async function inBatches(database: Database, onBatch: () => Promise<void>, statement: SQL): Promise<number> {
  for (let deleted = 0; ; ) {
    await onBatch();
    const { rowCount } = await database.execute(statement);
    deleted += rowCount ?? 0;
    if (rowCount !== BATCH) return deleted;
  }
}
