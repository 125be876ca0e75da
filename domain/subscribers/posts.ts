import { and, eq, sql } from "drizzle-orm";
import { inTransaction, type Database } from "../../platform/postgres/database.ts";
import { uuids } from "../../platform/postgres/uuids.ts";
import { subscriberPosts, subscribers } from "../../schemas/tables/all.ts";
import { planSend, type SendPlan } from "../mail/plan-send.ts";
import { countBounce } from "./count-bounce.ts";
import { leave } from "./own.ts";
import { subscribersSigningSecret } from "./tokens.ts";

/** A claimed request to a webhook that subscribed. */
export interface DuePost {
  id: string;
  organizationId: string;
  subscriberId: string;
  /** Null for the request to confirm. */
  eventId: string | null;
  attempts: number;
  url: string;
  signingSecret: string;
  body: Record<string, unknown>;
  /** Its subscriber left, or was quarantined, after it was written. */
  unwanted: boolean;
}

/** Claimed requests with all that sending them needs. */
export async function readDuePosts(database: Database, ids: string[]): Promise<DuePost[]> {
  const rows = await database
    .select({ post: subscriberPosts, url: subscribers.address, secret: subscribers.secret, state: subscribers.state })
    .from(subscriberPosts)
    .innerJoin(subscribers, eq(subscribers.id, subscriberPosts.subscriberId))
    .where(sql`${subscriberPosts.id} = any(${uuids(ids)})`);
  return rows.map(({ post: { id, organizationId, subscriberId, eventId, attempts, body }, url, secret, state }) => ({
    id,
    organizationId,
    subscriberId,
    eventId,
    attempts,
    url,
    signingSecret: subscribersSigningSecret(secret),
    body: body ?? {},
    unwanted: eventId !== null && state !== "active",
  }));
}

/** What came of a request. */
export type PostResult = { kind: "sent" } | { kind: "gone" } | { kind: "failed"; error: string; permanent: boolean };

/**
 * Records a request and what follows from it, in one transaction. A request to confirm is made once: who wants it can ask again. One that
 * tells of an event is tried again like mail; when no try is left that is a bounce, and 410 (`gone`) unsubscribes at once. `lost` means
 * that nothing was recorded, because the lease was taken over or the subscriber deleted.
 */
export async function recordPost(database: Database, { id, subscriberId, eventId, attempts }: DuePost, { token, result, at }: { token: string; result: PostResult; at: Date }): Promise<SendPlan | { kind: "lost" }> {
  const outcome = result.kind === "sent" ? result : { kind: "failed" as const, permanent: eventId === null || result.kind === "gone" || result.permanent };
  const plan = planSend({ tries: attempts + 1, result: outcome, at });
  return inTransaction(database, async (tx) => {
    // The subscriber before what it is sent, as whoever deletes one does.
    await tx.select({ id: subscribers.id }).from(subscribers).where(eq(subscribers.id, subscriberId)).for("no key update");
    const [row] = await tx
      .update(subscriberPosts)
      .set({
        attempts: sql`${subscriberPosts.attempts} + 1`,
        leaseToken: null,
        error: result.kind === "failed" ? result.error : result.kind === "gone" ? "The receiver answered 410." : null,
        ...(plan.kind === "retry" ? { dueAt: plan.at } : { status: plan.kind, body: null, finishedAt: at }),
      })
      .where(and(eq(subscriberPosts.id, id), eq(subscriberPosts.leaseToken, token), eq(subscriberPosts.status, "pending")))
      .returning({ id: subscriberPosts.id });
    if (!row) return { kind: "lost" };
    if (result.kind === "gone" && eventId !== null) await leave(tx, subscriberId, at);
    else if (plan.kind === "failed" && eventId !== null && !(result.kind === "failed" && result.permanent)) await countBounce(tx, subscriberId, at);
    return plan;
  });
}
