import { eq, sql, type SQL } from "drizzle-orm";
import { claimDue } from "../../platform/claim-due.ts";
import { uuids } from "../../platform/postgres/uuids.ts";
import { counts } from "../../platform/fair-share.ts";
import { inTransaction, type Database } from "../../platform/postgres/database.ts";
import { events, webhookDeliveries, webhooks } from "../../schemas/tables/all.ts";
import type { DeliveryTrigger } from "../../schemas/vocabulary.ts";
import type { PreviousSecret } from "../webhooks/previous-secret.ts";
import { deliveryBody } from "./body.ts";

/** A delivery whose lease we hold, with all that an attempt needs. */
export interface ClaimedDelivery extends PreviousSecret {
  id: string;
  leaseToken: string;
  webhookId: string;
  organizationId: string;
  eventId: string;
  attempt: number;
  trigger: DeliveryTrigger;
  url: string;
  signingSecret: string;
  headers: Record<string, string>;
  body: string;
}

export interface ClaimLimits {
  /** In all, of one webhook, and of all webhooks of one organization, with what runs already. */
  room: number;
  perWebhook: number;
  perOrganization: number;
  /** How many run now, by webhook and by organization. */
  running: { webhooks: ReadonlyMap<string, number>; organizations: ReadonlyMap<string, number> };
}

/** So many due rows are looked at for a claim; what is beyond has its turn when these are gone. */
const WINDOW = 2_000;

/** Who claims deliveries holds it: the others then see what he took. */
const CLAIMS_LOCK = sql`hashtext('claim webhook deliveries')`;

/**
 * Claims due deliveries, in the order of their events where they are due at the same moment. No receiver takes more than its share, so one
 * that hangs keeps only its own waiting; and those of one webhook are in the hands of one process at a time, which keeps their order.
 * The time is ours, not Postgres', so that claims and plans go by one clock.
 */
export async function claimDeliveries(database: Database, now: Date, leaseMs: number, limits: ClaimLimits): Promise<ClaimedDelivery[]> {
  const { token, ids } = await inTransaction(database, async (tx) => {
    await tx.execute(sql`select pg_advisory_xact_lock(${CLAIMS_LOCK})`);
    const condition = sql`status = 'pending' and id = any (array(${fairShare(now, limits)}))`;
    return claimDue(tx, { table: webhookDeliveries, condition, now, leaseMs, limit: limits.room, tieBreak: webhookDeliveries.position });
  });
  if (ids.length === 0) return [];
  const rows = await database
    .select({ delivery: webhookDeliveries, webhook: webhooks, event: events })
    .from(webhookDeliveries)
    .innerJoin(webhooks, eq(webhooks.id, webhookDeliveries.webhookId))
    .innerJoin(events, eq(events.id, webhookDeliveries.eventId))
    .where(sql`${webhookDeliveries.id} = any(${uuids(ids)}) and ${webhookDeliveries.leaseToken} = ${token}`);
  // The order of the claim.
  const place = new Map(ids.map((id, at) => [id, at]));
  rows.sort((a, b) => place.get(a.delivery.id)! - place.get(b.delivery.id)!);
  return rows.map(({ delivery, webhook, event }) => ({
    id: delivery.id,
    leaseToken: token,
    webhookId: webhook.id,
    organizationId: webhook.organizationId,
    eventId: event.id,
    attempt: delivery.attempt,
    trigger: delivery.trigger,
    url: webhook.url,
    signingSecret: webhook.signingSecret,
    previousSecret: webhook.previousSecret,
    previousSecretExpiresAt: webhook.previousSecretExpiresAt,
    headers: webhook.headers,
    body: deliveryBody(event),
  }));
}

/**
 * Ids of due deliveries, of each webhook and organization only as many as it has places free. The innermost part goes along the index of what is
 * due and ends at the window: what it leaves out are lists, since joins would have all that is due read and sorted for each claim.
 */
function fairShare(now: Date, { perWebhook, perOrganization, running }: ClaimLimits): SQL {
  const at = sql`${now.toISOString()}::timestamptz`;
  const full = (counted: ReadonlyMap<string, number>, most: number) => uuids([...counted].filter(([, count]) => count >= most).map(([id]) => id));
  return sql`
    select id from (
      select due.id, coalesce(by_organization.running, 0) + row_number() over (partition by organization_id order by due_at, position) as place
      from (
        select due.*, coalesce(by_webhook.running, 0) + row_number() over (partition by webhook_id order by due_at, position) as place_of_webhook
        from (
          select id, due_at, position, webhook_id, organization_id from ${webhookDeliveries}
          where status = 'pending' and due_at <= ${at} and webhook_id <> all (${full(running.webhooks, perWebhook)}) and organization_id <> all (${full(running.organizations, perOrganization)})
            and webhook_id <> all (array(select webhook_id from ${webhookDeliveries} where status = 'pending' and lease_token is not null and due_at > ${at} and webhook_id <> all (${uuids(running.webhooks.keys())})))
          order by due_at, position limit ${WINDOW}
        ) as due left join ${counts(running.webhooks)} as by_webhook (id uuid, running int) on by_webhook.id = due.webhook_id
      ) as due left join ${counts(running.organizations)} as by_organization (id uuid, running int) on by_organization.id = due.organization_id
      where place_of_webhook <= ${perWebhook}
    ) as due where place <= ${perOrganization}`;
}
