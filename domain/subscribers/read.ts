import { and, desc, eq } from "drizzle-orm";
import { Failure } from "../../platform/failures.ts";
import { isUuid } from "../../platform/ids.ts";
import { inTransaction, type Database } from "../../platform/postgres/database.ts";
import type { Subscriber, SubscriberListQuery } from "../../schemas/api/subscribers.ts";
import { subscribers } from "../../schemas/tables/all.ts";
import type { Actor } from "../actor.ts";
import { recordAudit } from "../audit/record.ts";
import { getStatusPage } from "../status-pages/read.ts";

/** The subscribers of a page, newest first, and how many there are in all. NOT_FOUND as for the page itself. */
export async function listSubscribers(database: Database, organizationId: string, pageId: string, { state, limit, offset }: SubscriberListQuery): Promise<{ subscribers: Subscriber[]; total: number }> {
  const page = await getStatusPage(database, organizationId, pageId);
  const wanted = and(eq(subscribers.statusPageId, page.id), state && eq(subscribers.state, state));
  const [rows, total] = await Promise.all([
    database.select().from(subscribers).where(wanted).orderBy(desc(subscribers.createdAt), desc(subscribers.id)).limit(limit).offset(offset),
    database.$count(subscribers, wanted),
  ]);
  return { subscribers: rows.map(showSubscriber), total };
}

/** Deletes a subscriber with what was not sent yet. NOT_FOUND for ids that are unknown, malformed, or of another page or organization. */
export async function deleteSubscriber(database: Database, actor: Actor, pageId: string, id: string): Promise<void> {
  const { organizationId } = actor;
  await inTransaction(database, async (tx) => {
    const own = and(eq(subscribers.organizationId, organizationId), eq(subscribers.statusPageId, pageId), eq(subscribers.id, id));
    const [deleted] = isUuid(pageId) && isUuid(id) ? await tx.delete(subscribers).where(own).returning() : [];
    if (!deleted) throw new Failure("NOT_FOUND", "No such subscriber.");
    // Whose address it was does not go into a log that cannot be changed.
    const { kind, state, statusPageId } = deleted;
    await recordAudit(tx, actor, { action: "subscriber.deleted", resourceType: "subscriber", resourceId: id, before: { kind, state, status_page_id: statusPageId }, after: null });
  });
}

function showSubscriber({ id, kind, address, services, state, bounces, createdAt, confirmedAt }: typeof subscribers.$inferSelect): Subscriber {
  return { id, kind, address, services, state, bounces, created_at: createdAt.toISOString(), confirmed_at: confirmedAt?.toISOString() ?? null };
}
