import { and, eq, inArray, sql } from "drizzle-orm";
import { Failure } from "../../platform/failures.ts";
import type { Transaction } from "../../platform/postgres/database.ts";
import { organizations, statusPages, subscribers } from "../../schemas/tables/all.ts";
import { SUBSCRIBERS_A_PAGE } from "../../schemas/plans.ts";
import type { Plan } from "../../schemas/vocabulary.ts";

/** Those who confirmed and did not leave. */
const CONFIRMED = ["active", "quarantined"] as const;

/** Locks a page until the transaction ends, so that its subscribers are counted one after the other, and tells its organization's plan. NOT_FOUND when it is gone. */
export async function lockSubscribersPage(tx: Transaction, pageId: string): Promise<Plan> {
  const [found] = await tx
    .select({ plan: organizations.plan })
    .from(statusPages)
    .innerJoin(organizations, eq(organizations.id, statusPages.organizationId))
    .where(eq(statusPages.id, pageId))
    .for("no key update", { of: statusPages });
  if (!found) throw new Failure("NOT_FOUND", "No such status page.");
  return found.plan;
}

/** PLAN_LIMIT when a page has as many confirmed subscribers as its plan allows. The page must be locked. Tells nothing of the plan: visitors read it. */
export async function requirePageRoom(tx: Transaction, pageId: string, plan: Plan): Promise<void> {
  const confirmed = await tx.$count(subscribers, and(eq(subscribers.statusPageId, pageId), inArray(subscribers.state, CONFIRMED)));
  if (confirmed >= SUBSCRIBERS_A_PAGE[plan]) throw new Failure("PLAN_LIMIT", "This page has as many subscribers as it can have.", { fix: "Look at the page itself or its feeds, or ask whoever runs it." });
}

/**
 * Makes room for one more address that is asked, when those that were asked and those that confirmed fill the page: addresses whose
 * confirmation has ended go first, then the oldest of the network that asked for the most. So nobody can crowd out the others. The page must
 * be locked.
 */
export async function makePendingRoom(tx: Transaction, pageId: string, { plan, at }: { plan: Plan; at: Date }): Promise<void> {
  const taken = await tx.$count(subscribers, and(eq(subscribers.statusPageId, pageId), inArray(subscribers.state, [...CONFIRMED, "pending"])));
  const tooMany = taken + 1 - SUBSCRIBERS_A_PAGE[plan];
  if (tooMany <= 0) return;
  await tx.execute(sql`
    delete from ${subscribers} where id in (
      select id from (
        select id, last_asked_at, coalesce(confirm_expires_at > ${at.toISOString()}::timestamptz, false) as open, count(*) over (partition by asked_by) as of_network
        from ${subscribers} where status_page_id = ${pageId} and state = 'pending'
      ) as asked order by open, of_network desc, last_asked_at, id limit ${tooMany}
    )`);
}
