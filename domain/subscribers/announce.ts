import { and, asc, eq, gt, inArray, lte, sql, type SQL } from "drizzle-orm";
import { inTransaction, type Database, type Transaction } from "../../platform/postgres/database.ts";
import { uuids } from "../../platform/postgres/uuids.ts";
import { announcements, organizations, services, statusPages, statusPageServices, subscribers } from "../../schemas/tables/all.ts";
import { queueSubscribersMails } from "../mail/queue-mail.ts";
import type { StatusPageRow } from "../status-pages/columns.ts";
import { announcementMail } from "./compose-mail.ts";
import { readHappening, type Happening } from "./happening.ts";
import { pageLinks } from "./page-links.ts";
import { announcementBody } from "./post-body.ts";
import { queuePosts } from "./queue-posts.ts";
import { ownToken } from "./tokens.ts";

/** Subscribers who get their rows in one transaction. */
const BATCH = 500;

type SubscribersMail = Parameters<typeof queueSubscribersMails>[1][number];
type Post = Parameters<typeof queuePosts>[1][number];
type SubscriberRow = typeof subscribers.$inferSelect;

interface Held {
  /** The event's id. */
  id: string;
  organizationId: string;
}

interface Round {
  /** The lease's. */
  token: string;
  /** The lease's new end, when there is more to do. */
  leaseUntil: Date;
  publicUrl: string;
  at: Date;
}

/**
 * Gives the next subscribers of an announcement their mails and posts, and moves its cursor, in one transaction: each once, whoever dies
 * in between. Told is who was active when it happened, of pages that show a service which it is about; when it is about none, of all
 * pages. True while there is more; false when it is done, or the lease was taken over.
 */
export async function announceToNext(database: Database, { id, organizationId }: Held, { token, leaseUntil, publicUrl, at }: Round): Promise<boolean> {
  return inTransaction(database, async (tx) => {
    const mine = and(eq(announcements.id, id), eq(announcements.leaseToken, token));
    const [held] = await tx.select({ cursor: announcements.cursor }).from(announcements).where(mine).for("update");
    if (!held) return false;
    const happening = await readHappening(tx, id);
    const next = happening ? await readNext(tx, organizationId, happening, held.cursor) : [];
    if (happening && next.length > 0) await tell(tx, organizationId, happening, next, { publicUrl, at });
    if (next.length < BATCH) await tx.delete(announcements).where(mine);
    else await tx.update(announcements).set({ cursor: next.at(-1)!.id, dueAt: leaseUntil }).where(mine);
    return next.length === BATCH;
  });
}

function readNext(tx: Transaction, organizationId: string, { serviceIds, at }: Happening, cursor: string | null): Promise<SubscriberRow[]> {
  return tx
    .select()
    .from(subscribers)
    .where(
      and(
        eq(subscribers.organizationId, organizationId),
        eq(subscribers.state, "active"),
        lte(subscribers.confirmedAt, at),
        cursor === null ? undefined : gt(subscribers.id, cursor),
        serviceIds.length === 0 ? undefined : concerns(serviceIds),
      ),
    )
    .orderBy(asc(subscribers.id))
    .limit(BATCH);
}

/** Its page shows one of these services, and it wants to hear of that one. */
function concerns(serviceIds: string[]): SQL {
  return sql`exists (
    select from ${statusPageServices} as shown where shown.status_page_id = ${subscribers.statusPageId} and shown.service_id = any(${uuids(serviceIds)})
      and (${subscribers.services} = '{}' or shown.service_id = any(${subscribers.services})))`;
}

async function tell(tx: Transaction, organizationId: string, happening: Happening, told: SubscriberRow[], { publicUrl, at }: Pick<Round, "publicUrl" | "at">): Promise<void> {
  const [organization] = await tx.select({ timezone: organizations.timezone }).from(organizations).where(eq(organizations.id, organizationId));
  const pages = await readPages(tx, [...new Set(told.map(({ statusPageId }) => statusPageId))], happening.serviceIds);
  const { eventId } = happening;
  const timezone = organization?.timezone ?? "UTC";
  const mails: SubscribersMail[] = [];
  const posts: Post[] = [];
  for (const { id: subscriberId, kind, address, statusPageId, secret } of told) {
    const { page, affected } = pages.get(statusPageId)!;
    const links = pageLinks(page, publicUrl);
    const token = ownToken(subscriberId, secret);
    const common = { organizationId, subscriberId, eventId, at };
    if (kind === "email") mails.push({ ...common, kind: "announcement", to: address, ...announcementMail({ page, links, happening, affected, timezone, token }) });
    else posts.push({ ...common, body: announcementBody({ page, links, happening, affected, token }) });
  }
  await queueSubscribersMails(tx, mails);
  await queuePosts(tx, posts);
}

/** Pages with the names of those affected services that they show: what a page does not show its subscribers are not told. */
async function readPages(tx: Transaction, ids: string[], serviceIds: string[]): Promise<Map<string, { page: StatusPageRow; affected: string[] }>> {
  const rows = await tx.select().from(statusPages).where(inArray(statusPages.id, ids));
  const pages = new Map(rows.map((page) => [page.id, { page, affected: [] as string[] }]));
  const shown = await tx
    .select({ pageId: statusPageServices.statusPageId, name: services.name })
    .from(statusPageServices)
    .innerJoin(services, eq(services.id, statusPageServices.serviceId))
    .where(and(inArray(statusPageServices.statusPageId, ids), sql`${statusPageServices.serviceId} = any(${uuids(serviceIds)})`))
    .orderBy(statusPageServices.displayOrder, services.id);
  for (const { pageId, name } of shown) pages.get(pageId)!.affected.push(name);
  return pages;
}
