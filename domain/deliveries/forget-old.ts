import { sql } from "drizzle-orm";
import type { Database } from "../../platform/postgres/database.ts";
import { events, notifications, organizations, webhookDeliveries, webhooks } from "../../schemas/tables/all.ts";
import { keptSince } from "../organizations/retention-days.ts";

/** How long a delivery, with its request and answer, can be looked at and repeated at most. */
export const DELIVERIES_KEPT_MS = 30 * 24 * 60 * 60_000;

const BATCH = 1_000;

/**
 * Deletes deliveries that ended and are older than 30 days, or than their organization's shorter retention, and then events that are older than 30 days
 * and that nothing needs any more: a batch of at most 1,000 in one statement. Returns true when there may be more.
 */
export async function forgetOldDeliveries(database: Database, now: Date): Promise<boolean> {
  const before = new Date(now.getTime() - DELIVERIES_KEPT_MS);
  // Events only when their deliveries are gone: before that they would be looked at in vain.
  return (await forgetDeliveries(database, now)) === BATCH || (await forgetEvents(database, before)) === BATCH;
}

/** Webhook by webhook, because that is how deliveries are in order. */
async function forgetDeliveries(database: Database, now: Date): Promise<number> {
  const { rowCount } = await database.execute(sql`
    delete from ${webhookDeliveries} where id in (
      select old.id from ${webhooks} join ${organizations} on ${organizations.id} = ${webhooks.organizationId} cross join lateral (
        select id from ${webhookDeliveries} as delivery
        where delivery.webhook_id = ${webhooks.id} and delivery.created_at < ${keptSince(now)} and delivery.status <> 'pending'
        order by delivery.created_at limit ${BATCH}
      ) as old limit ${BATCH}
    )`);
  return rowCount ?? 0;
}

/**
 * An event stays while something was planned of it that is kept, or pending: both are rows that name it. `error.regressed` stays, because
 * releases count by it. What another statement plans right now holds its event by the foreign key, so that one is left for later. Asked event by
 * event, oldest first: as `not exists` Postgres would read all deliveries for each batch.
 */
async function forgetEvents(database: Database, before: Date): Promise<number> {
  const { rowCount } = await database.execute(sql`
    delete from ${events} where id in (
      select event.id from ${events} as event
      where event.created_at < ${before.toISOString()}::timestamptz and event.fanned_out_at is not null and event.type <> 'error.regressed'
        and (select true from ${webhookDeliveries} as delivery where delivery.event_id = event.id limit 1) is null
        and (select true from ${notifications} as notification where notification.event_id = event.id limit 1) is null
      order by event.created_at limit ${BATCH} for update skip locked
    )`);
  return rowCount ?? 0;
}
