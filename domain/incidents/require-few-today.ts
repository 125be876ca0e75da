import { and, eq, gt } from "drizzle-orm";
import { LRUCache } from "lru-cache";
import { Failure } from "../../platform/failures.ts";
import type { Queries } from "../../platform/postgres/database.ts";
import { INCIDENTS_PER_DAY } from "../../schemas/plans.ts";
import { incidents, organizations } from "../../schemas/tables/all.ts";

const DAY_MS = 86_400_000;
const RETRY_AFTER_S = 3_600;

/**
 * Of what an organization may still open this part is granted at once, so that its incidents are
 * not counted anew for each: that would cost the more the more there are. Several processes
 * together exceed the bound only when there are more than so many of them.
 */
const GRANTED_SHARE = 1 / 8;
const MOST_REMEMBERED = 10_000;

/** How many incidents an organization may open here before they are counted again. */
const granted = new LRUCache<string, number>({ max: MOST_REMEMBERED });

/**
 * Makes sure that an organization opened fewer incidents within 24 hours than its plan allows, by
 * whatever opened them. What opens them by itself is not asked: a monitor has one open at a time.
 * Several at once may exceed it by as many. RATE_LIMITED.
 */
export async function requireFewToday(queries: Queries, organizationId: string, at: Date): Promise<void> {
  const left = granted.get(organizationId) ?? 0;
  if (left > 0) {
    granted.set(organizationId, left - 1);
    return;
  }
  const today = and(eq(incidents.organizationId, organizationId), gt(incidents.createdAt, new Date(at.getTime() - DAY_MS)));
  const [organization] = await queries
    .select({ plan: organizations.plan, opened: queries.$count(incidents, today) })
    .from(organizations)
    .where(eq(organizations.id, organizationId));
  if (!organization) return;
  const most = INCIDENTS_PER_DAY[organization.plan];
  granted.set(organizationId, Math.floor((most - organization.opened) * GRANTED_SHARE));
  if (organization.opened < most) return;
  throw new Failure(
    "RATE_LIMITED",
    `This organization opened ${most.toLocaleString("en")} incidents within 24 hours, the most that the ${organization.plan} plan allows.`,
    { retryAfter: RETRY_AFTER_S, fix: "Add updates to incidents that are open." },
  );
}
