import { sql } from "drizzle-orm";
import { Failure } from "../../platform/failures.ts";
import { inTransaction, type Database } from "../../platform/postgres/database.ts";
import type { PlannedRedeliveries, RedeliverFailed } from "../../schemas/api/webhooks.ts";
import { webhookDeliveries } from "../../schemas/tables/all.ts";
import { lockWebhook } from "../webhooks/read.ts";
import { DELIVERIES_KEPT_MS } from "./forget-old.ts";

const MOST = 10_000;

/**
 * Plans one redelivery for each event of which a delivery to this webhook failed or was abandoned since then, while none arrived and none is
 * pending: asked twice it plans nothing twice. They are due one a millisecond, so that they come in order and leave a receiver that has just
 * recovered time to breathe. NOT_FOUND; INVALID_REQUEST for a moment of which nothing is kept.
 */
export async function redeliverFailed(database: Database, organizationId: string, webhookId: string, { since }: RedeliverFailed, at: Date): Promise<PlannedRedeliveries> {
  return inTransaction(database, async (tx) => {
    // Locked, so that two of these do not plan the same.
    const { id } = await lockWebhook(tx, organizationId, webhookId);
    if (Date.parse(since) < at.getTime() - DELIVERIES_KEPT_MS) throw new Failure("INVALID_REQUEST", "since must be at most 30 days ago.", { path: "/since", fix: "Deliveries are kept for 30 days; name a later moment." });
    const now = sql`${at.toISOString()}::timestamptz`;
    const { rows } = await tx.execute<{ planned: string; found: string }>(sql`
      with lost as materialized (
        select event_id, row_number() over (order by min(created_at), event_id) as place
        from ${webhookDeliveries} as delivery
        where webhook_id = ${id} and created_at >= ${since}::timestamptz and status in ('failed', 'abandoned') and trigger <> 'test'
          and not exists (
            select from ${webhookDeliveries} as other
            where other.event_id = delivery.event_id and other.webhook_id = delivery.webhook_id and other.status in ('pending', 'delivered')
          )
        group by event_id
      ), planned as (
        insert into ${webhookDeliveries} (id, organization_id, webhook_id, event_id, attempt, trigger, status, due_at, created_at)
        select gen_random_uuid(), ${organizationId}::uuid, ${id}::uuid, event_id, 1, 'redeliver', 'pending', ${now} + (place - 1) * interval '1 millisecond', ${now}
        from lost where place <= ${MOST}
        returning 1
      )
      select (select count(*) from planned) as planned, (select count(*) from lost) as found`);
    const [planned, found] = [Number(rows[0]!.planned), Number(rows[0]!.found)];
    return { planned, remaining: found - planned };
  });
}
