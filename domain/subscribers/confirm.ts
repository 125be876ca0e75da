import { and, eq, gt, sql } from "drizzle-orm";
import { inTransaction, type Database } from "../../platform/postgres/database.ts";
import { statusPages, subscribers } from "../../schemas/tables/all.ts";
import type { StatusPageRow } from "../status-pages/columns.ts";
import { isNamed } from "./find-page.ts";
import { lockSubscribersPage, requirePageRoom } from "./page-room.ts";
import { confirmHash } from "./tokens.ts";

/** What the page of a link shows. */
export interface Subscription {
  page: StatusPageRow;
  subscriber: typeof subscribers.$inferSelect;
}

/** Whom a confirmation's link would subscribe; `slug` may be the page's id; null when it was used, has ended, was followed by a newer one, or never was. */
export async function findConfirmation(database: Database, slug: string, token: string, now: Date): Promise<Subscription | null> {
  const [found] = await database
    .select({ page: statusPages, subscriber: subscribers })
    .from(subscribers)
    .innerJoin(statusPages, eq(statusPages.id, subscribers.statusPageId))
    .where(and(isNamed(slug), open(token, now)));
  return found ?? null;
}

/** Makes whom `findConfirmation` found active, with the services that were asked for last; it lifts a quarantine. Null when the link was used meanwhile; PLAN_LIMIT when the page became full. */
export async function confirmSubscription(database: Database, found: Subscription, token: string, at: Date): Promise<Subscription | null> {
  const subscriber = await inTransaction(database, async (tx) => {
    const plan = await lockSubscribersPage(tx, found.page.id);
    if (found.subscriber.state === "pending" || found.subscriber.state === "unsubscribed") await requirePageRoom(tx, found.page.id, plan);
    const [confirmed] = await tx
      .update(subscribers)
      .set({
        // Who was active all the time hears of what began before this, too.
        confirmedAt: sql`case when ${subscribers.state} = 'active' then ${subscribers.confirmedAt} else ${at.toISOString()}::timestamptz end`,
        state: "active",
        services: sql`${subscribers.wantedServices}`,
        bounces: 0,
        confirmHash: null,
        confirmExpiresAt: null,
        askedBy: null,
        updatedAt: at,
      })
      .where(and(eq(subscribers.id, found.subscriber.id), open(token, at)))
      .returning();
    return confirmed;
  });
  return subscriber ? { ...found, subscriber } : null;
}

function open(token: string, now: Date) {
  return and(eq(subscribers.confirmHash, confirmHash(token)), gt(subscribers.confirmExpiresAt, now));
}
