import { sql, type SQL } from "drizzle-orm";
import type { Database } from "../../platform/postgres/database.ts";
import { channels, notifications } from "../../schemas/tables/all.ts";

/** What there is to tell channels. */
export interface NotificationLook {
  areDue: boolean;
  /** When the next notification is due that is not due yet; null when none is planned. */
  nextDueAt: Date | null;
}

const WAITING = sql`from ${notifications} as waiting join ${channels} as channel on channel.id = waiting.channel_id
  where waiting.status = 'pending'`;

/** A condition: whether a channel is due to be told something. */
export function notificationsAreDue(now: SQL): SQL {
  return sql`exists (select ${WAITING} and waiting.due_at <= ${now} and channel.due_at <= ${now})`;
}

/** Looks without a lock, in one statement: a claim that finds nothing costs several times as much. */
export async function lookForNotifications(database: Database, now: Date): Promise<NotificationLook> {
  const at = sql`${now.toISOString()}::timestamptz`;
  const { rows } = await database.execute<{ due: boolean; next: string | null }>(sql`
    select ${notificationsAreDue(at)} as due,
      (select min(greatest(channel.due_at, waiting.due_at)) ${WAITING} and greatest(channel.due_at, waiting.due_at) > ${at}) as next`);
  const { due, next } = rows[0]!;
  return { areDue: due, nextDueAt: next === null ? null : new Date(next) };
}
