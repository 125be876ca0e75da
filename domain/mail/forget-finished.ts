import { lt, sql } from "drizzle-orm";
import type { Database } from "../../platform/postgres/database.ts";
import { mails, subscriberPosts, subscribers } from "../../schemas/tables/all.ts";

const DAY_MS = 86_400_000;

/** Days for which is kept: what was sent or given up, an address that was never confirmed, and one that left. */
const KEPT_DAYS = { finished: 30, unconfirmed: 7, unsubscribed: 30 };

/** Forgets what nobody has use for any more. */
export async function forgetFinished(database: Database, now: Date): Promise<void> {
  const before = (days: number) => new Date(now.getTime() - days * DAY_MS);
  await database.delete(mails).where(sql`${mails.status} <> 'pending' and ${lt(mails.finishedAt, before(KEPT_DAYS.finished))}`);
  await database.delete(subscriberPosts).where(sql`${subscriberPosts.status} <> 'pending' and ${lt(subscriberPosts.finishedAt, before(KEPT_DAYS.finished))}`);
  await database.delete(subscribers).where(sql`${subscribers.state} = 'pending' and ${lt(subscribers.lastAskedAt, before(KEPT_DAYS.unconfirmed))}`);
  await database.delete(subscribers).where(sql`${subscribers.state} = 'unsubscribed' and ${lt(subscribers.updatedAt, before(KEPT_DAYS.unsubscribed))} and ${lt(subscribers.lastAskedAt, before(KEPT_DAYS.unconfirmed))}`);
}
