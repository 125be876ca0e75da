import { and, eq } from "drizzle-orm";
import type { Database, Queries } from "../../platform/postgres/database.ts";
import { statusPages, subscribers } from "../../schemas/tables/all.ts";
import type { Subscription } from "./confirm.ts";
import { isOwnToken, subscriberOf } from "./tokens.ts";

/** Whose own link this is; null for a token that is none. */
export async function findOwnSubscription(database: Database, slug: string, token: string): Promise<Subscription | null> {
  const id = subscriberOf(token);
  if (id === null) return null;
  const [found] = await database
    .select({ page: statusPages, subscriber: subscribers })
    .from(subscribers)
    .innerJoin(statusPages, eq(statusPages.id, subscribers.statusPageId))
    .where(and(eq(statusPages.slug, slug), eq(subscribers.id, id)));
  return found && isOwnToken(token, found.subscriber.secret) ? found : null;
}

/** Leaves at once, whatever the state was; what was not sent yet is not sent. Null for a token that is none. */
export async function unsubscribe(database: Database, slug: string, token: string, at: Date): Promise<Subscription | null> {
  const found = await findOwnSubscription(database, slug, token);
  if (!found) return null;
  await leave(database, found.subscriber.id, at);
  return found;
}

/** The same for one that said so otherwise: a webhook that answered 410. */
export async function leave(queries: Queries, subscriberId: string, at: Date): Promise<void> {
  await queries.update(subscribers).set({ state: "unsubscribed", confirmHash: null, confirmExpiresAt: null, updatedAt: at }).where(eq(subscribers.id, subscriberId));
}

/** Chooses of which services an active subscriber hears: ids that its page shows, none for all. Null for a token that is none or a subscriber that is not active. */
export async function chooseServices(database: Database, slug: string, token: string, { services, at }: { services: string[]; at: Date }): Promise<Subscription | null> {
  const found = await findOwnSubscription(database, slug, token);
  if (!found) return null;
  const [subscriber] = await database
    .update(subscribers)
    .set({ services, updatedAt: at })
    .where(and(eq(subscribers.id, found.subscriber.id), eq(subscribers.state, "active")))
    .returning();
  return subscriber ? { ...found, subscriber } : null;
}
