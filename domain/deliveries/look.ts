import { sql, type SQL } from "drizzle-orm";
import type { Database } from "../../platform/postgres/database.ts";
import { events, webhookDeliveries } from "../../schemas/tables/all.ts";

/** What there is to do for webhook deliveries. */
export interface DeliveryLook {
  /** Events wait for their fan-out. */
  areEventsNew: boolean;
  areDue: boolean;
  /** When the next delivery is due that is not due yet; null when none is planned. */
  nextDueAt: Date | null;
}

/** A condition: whether events wait for their fan-out, or deliveries are due. */
export function deliveriesAreDue(now: SQL): SQL {
  return sql`${ARE_EVENTS_NEW} or ${areDue(now)}`;
}

const ARE_EVENTS_NEW = sql`exists (select from ${events} where fanned_out_at is null)`;

function areDue(now: SQL): SQL {
  return sql`exists (select from ${webhookDeliveries} where status = 'pending' and due_at <= ${now})`;
}

/** Looks without a lock, in one statement: a fan-out or a claim that finds nothing costs several times as much. */
export async function lookForDeliveries(database: Database, now: Date): Promise<DeliveryLook> {
  const at = sql`${now.toISOString()}::timestamptz`;
  const { rows } = await database.execute<{ events: boolean; due: boolean; next: string | null }>(sql`
    select ${ARE_EVENTS_NEW} as events, ${areDue(at)} as due,
      (select min(due_at) from ${webhookDeliveries} where status = 'pending' and due_at > ${at}) as next`);
  const { events: areEventsNew, due, next } = rows[0]!;
  return { areEventsNew, areDue: due, nextDueAt: next === null ? null : new Date(next) };
}
