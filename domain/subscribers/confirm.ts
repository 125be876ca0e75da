import { and, eq, gt, sql } from "drizzle-orm";
import type { Database } from "../../platform/postgres/database.ts";
import { statusPages, subscribers } from "../../schemas/tables/all.ts";
import type { StatusPageRow } from "../status-pages/columns.ts";
import { confirmHash } from "./tokens.ts";

/** What the page of a link shows. */
export interface Subscription {
  page: StatusPageRow;
  subscriber: typeof subscribers.$inferSelect;
}

/** Whom a confirmation's link would subscribe; null when it was used, has ended, was followed by a newer one, or never was. */
export async function findConfirmation(database: Database, slug: string, token: string, now: Date): Promise<Subscription | null> {
  const [found] = await database
    .select({ page: statusPages, subscriber: subscribers })
    .from(subscribers)
    .innerJoin(statusPages, eq(statusPages.id, subscribers.statusPageId))
    .where(and(eq(statusPages.slug, slug), open(token, now)));
  return found ?? null;
}

/** Makes the subscriber active, with the services that were asked for last; it lifts a quarantine. Null as above. */
export async function confirmSubscription(database: Database, slug: string, token: string, at: Date): Promise<Subscription | null> {
  const found = await findConfirmation(database, slug, token, at);
  if (!found) return null;
  const [subscriber] = await database
    .update(subscribers)
    .set({
      // Who was active all the time hears of what began before this, too.
      confirmedAt: sql`case when ${subscribers.state} = 'active' then ${subscribers.confirmedAt} else ${at.toISOString()}::timestamptz end`,
      state: "active",
      services: sql`${subscribers.wantedServices}`,
      bounces: 0,
      confirmHash: null,
      confirmExpiresAt: null,
      updatedAt: at,
    })
    .where(and(eq(subscribers.id, found.subscriber.id), open(token, at)))
    .returning();
  return subscriber ? { ...found, subscriber } : null;
}

function open(token: string, now: Date) {
  return and(eq(subscribers.confirmHash, confirmHash(token)), gt(subscribers.confirmExpiresAt, now));
}
