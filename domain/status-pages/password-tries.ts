import { and, eq, sql } from "drizzle-orm";
import type { Database, Queries } from "../../platform/postgres/database.ts";
import { passwordTries, statusPages } from "../../schemas/tables/all.ts";

/** What a client did wrong at a page's password. */
export interface WrongTries {
  /** Since the last hour without one. */
  wrong: number;
  /** Milliseconds since the epoch. */
  lastWrongAt: number;
}

const MINUTE_MS = 60_000;
const FIRST_WAIT_MS = MINUTE_MS;
const LONGEST_WAIT_MS = 15 * MINUTE_MS;
const FORGOTTEN_AFTER_MS = 60 * MINUTE_MS;

/** Clients of a page that are remembered; past them the one that was wrong the longest ago is forgotten. */
const MOST_CLIENTS = 10_000;

/** Rows that one deletion takes at most. */
const BATCH = 1_000;

/**
 * Pure: whole seconds that a client has to wait before its next try; 0 for none. After `free` wrong ones it waits a minute, and after each
 * further one twice as long, 15 minutes at most.
 */
export function secondsToWait(tries: WrongTries | null, { free, now }: { free: number; now: number }): number {
  if (tries === null || tries.wrong < free) return 0;
  const wait = Math.min(FIRST_WAIT_MS * 2 ** Math.min(tries.wrong - free, 30), LONGEST_WAIT_MS);
  // Never longer than the wait itself, whatever the clocks of other processes show.
  return Math.ceil(Math.max(0, Math.min(wait, tries.lastWrongAt + wait - now)) / 1_000);
}

/** Pure: the same with one more wrong try. */
export function afterWrong(tries: WrongTries | null, now: number): WrongTries {
  const old = tries === null || now - tries.lastWrongAt >= FORGOTTEN_AFTER_MS;
  return { wrong: old ? 1 : tries.wrong + 1, lastWrongAt: now };
}

/** What a client did wrong at a page; null for nothing, or nothing lately. */
export async function readWrongTries(queries: Queries, pageId: string, client: string): Promise<WrongTries | null> {
  const [row] = await queries.select().from(passwordTries).where(ofClient(pageId, client));
  return row ? { wrong: row.wrong, lastWrongAt: row.lastWrongAt.getTime() } : null;
}

/** Counts one more wrong try, whichever process saw the ones before. Null when the page is gone. */
export async function noteWrongTry(database: Database, pageId: string, { client, now }: { client: string; now: number }): Promise<WrongTries | null> {
  const at = sql`${new Date(now).toISOString()}::timestamptz`;
  const forgotten = sql`${new Date(now - FORGOTTEN_AFTER_MS).toISOString()}::timestamptz`;
  const { rows } = await database.execute<{ wrong: number; last_wrong_at: string }>(sql`
    insert into ${passwordTries} as known (status_page_id, organization_id, client, wrong, last_wrong_at)
    select id, organization_id, ${client}, 1, ${at} from ${statusPages} where id = ${pageId}
    on conflict (status_page_id, client) do update set
      wrong = case when known.last_wrong_at <= ${forgotten} then 1 else known.wrong + 1 end,
      last_wrong_at = greatest(known.last_wrong_at, ${at})
    returning wrong, last_wrong_at`);
  const [row] = rows;
  if (!row) return null;
  if (row.wrong === 1) await keepNewest(database, pageId);
  return { wrong: row.wrong, lastWrongAt: new Date(row.last_wrong_at).getTime() };
}

/** Forgets what a client did wrong at a page. */
export async function forgetWrongTries(queries: Queries, pageId: string, client: string): Promise<void> {
  await queries.delete(passwordTries).where(ofClient(pageId, client));
}

/** Deletes tries that count no more: a batch in one statement. Returns true when there may be more. */
export async function forgetOldTries(database: Database, now: Date): Promise<boolean> {
  const before = new Date(now.getTime() - FORGOTTEN_AFTER_MS).toISOString();
  const { rowCount } = await database.execute(sql`
    delete from ${passwordTries} where ctid = any (array(
      select ctid from ${passwordTries} where last_wrong_at <= ${before}::timestamptz limit ${BATCH} for update skip locked))`);
  return rowCount === BATCH;
}

/** Somebody with many addresses must not fill the table. */
async function keepNewest(database: Database, pageId: string): Promise<void> {
  await database.execute(sql`
    delete from ${passwordTries} where ctid = any (array(
      select ctid from ${passwordTries} where status_page_id = ${pageId} order by last_wrong_at desc offset ${MOST_CLIENTS} for update skip locked))`);
}

function ofClient(pageId: string, client: string) {
  return and(eq(passwordTries.statusPageId, pageId), eq(passwordTries.client, client));
}
