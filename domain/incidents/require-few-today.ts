import { and, eq, gt } from "drizzle-orm";
import { Failure } from "../../platform/failures.ts";
import type { Queries } from "../../platform/postgres/database.ts";
import { INCIDENTS_PER_DAY } from "../../schemas/plans.ts";
import { incidents, organizations } from "../../schemas/tables/all.ts";

const DAY_MS = 86_400_000;
const RETRY_AFTER_S = 3_600;

/**
 * Makes sure that an organization opened fewer incidents within 24 hours than its plan allows, by whatever opened them. What opens them by itself
 * is not asked: a monitor has one open at a time. Several at once may exceed it by as many. RATE_LIMITED.
 */
export async function requireFewToday(queries: Queries, organizationId: string, at: Date): Promise<void> {
  const today = and(eq(incidents.organizationId, organizationId), gt(incidents.createdAt, new Date(at.getTime() - DAY_MS)));
  const [organization] = await queries.select({ plan: organizations.plan, opened: queries.$count(incidents, today) }).from(organizations).where(eq(organizations.id, organizationId));
  if (!organization || organization.opened < INCIDENTS_PER_DAY[organization.plan]) return;
  const most = INCIDENTS_PER_DAY[organization.plan].toLocaleString("en");
  throw new Failure("RATE_LIMITED", `This organization opened ${most} incidents within 24 hours, the most that the ${organization.plan} plan allows.`, { retryAfter: RETRY_AFTER_S, fix: "Add updates to incidents that are open." });
}
