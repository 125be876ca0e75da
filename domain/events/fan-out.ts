import { sql } from "drizzle-orm";
import { inTransaction, type Database, type Transaction } from "../../platform/postgres/database.ts";
import { events, webhookDeliveries, webhooks } from "../../schemas/tables/all.ts";
import { startWorkflows } from "../workflows/runs/start.ts";
import { tellChannels } from "../notifications/tell-channels.ts";
import { announcePageChanges } from "../status-pages/announce-changes.ts";
import { announcementsInsert } from "../subscribers/announcements-insert.ts";

const BATCH = 500;

/**
 * Makes the first delivery of each new event to each active webhook that subscribes to it, what channels and subscribers are told of it, and
 * the runs of workflows that wait for it, due at once. A batch is one statement: an event is marked exactly when all that exists. Any number
 * may ask for it at once; batches are made one after the other. Pages that show what happened are drawn anew. Returns how many events.
 */
export async function fanOut(database: Database, now: Date): Promise<number> {
  let total = 0;
  for (let found = BATCH; found === BATCH; total += found) found = await fanOutBatch(database, now);
  return total;
}

/**
 * Webhooks are locked for share: one that is being disabled right now either is seen disabled here, or sees these
 * deliveries when it abandons what is pending.
 */
async function fanOutBatch(database: Database, now: Date): Promise<number> {
  return inTransaction(database, async (tx) => {
    // One after the other: what two take beside each other could overtake.
    await tx.execute(sql`select pg_advisory_xact_lock(hashtext('fan out events'))`);
    return fanOutNext(tx, now);
  });
}

async function fanOutNext(tx: Transaction, now: Date): Promise<number> {
  const at = sql`${now.toISOString()}::timestamptz`;
  const { rows } = await tx.execute<{ organization_id: string }>(sql`
    with batch as materialized (
      select id, organization_id, type, data ->> 'id' as subject, data ->> 'status' as status, data, causes, created_at, position
      from ${events} where fanned_out_at is null order by position limit ${BATCH} for update
    ), receivers as materialized (
      select id, organization_id, events from ${webhooks}
      where is_active and organization_id in (select organization_id from batch) order by id for share
    ), made as (
      insert into ${webhookDeliveries} (id, organization_id, webhook_id, event_id, attempt, trigger, status, due_at, created_at)
      select gen_random_uuid(), batch.organization_id, receivers.id, batch.id, 1, 'event', 'pending', ${at}, ${at}
      from batch join receivers on receivers.organization_id = batch.organization_id and batch.type::text = any(receivers.events)
      order by batch.position
    ), ${tellChannels(at)}, ${startWorkflows(at)}, announced as (${announcementsInsert(sql`batch`, at)})
    update ${events} set fanned_out_at = ${at} from batch where ${events.id} = batch.id
    returning batch.organization_id`);
  await announcePageChanges(tx, new Set(rows.map(({ organization_id: id }) => id)));
  return rows.length;
}
