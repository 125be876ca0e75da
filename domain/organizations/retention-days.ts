import { sql, type SQL } from "drizzle-orm";
import { Failure } from "../../platform/failures.ts";
import { RETENTION_DAYS } from "../../schemas/plans.ts";
import { organizations } from "../../schemas/tables/all.ts";
import { PLANS, type Plan } from "../../schemas/vocabulary.ts";

/** Deliveries are kept no longer than this, which every plan allows. */
const DELIVERIES_DAYS = 30;

/** As for rows in ClickHouse: the first tries of a delivery whose last one is still to come are there to be looked at. */
const LEAST_DAYS = 2;

/** Since when deliveries of the organization of this row (of `organizations`) are kept, as SQL. */
export function keptSince(now: Date): SQL {
  return sql`${now.toISOString()}::timestamptz - greatest(${LEAST_DAYS}, least(${DELIVERIES_DAYS}, ${organizations.retentionDays})) * interval '24 hours'`;
}

/** For how many days an organization's rows are kept: as it chose, and no longer than its plan allows, which may have become a smaller one since. */
export function keptRetentionDays(plan: Plan, chosen: number): number {
  return Math.min(chosen, RETENTION_DAYS[plan]);
}

/** PLAN_RESTRICTED, naming the plan that would allow it, when a plan keeps nothing for so many days. */
export function requireRetentionDays(plan: Plan, wanted: number): void {
  const most = RETENTION_DAYS[plan];
  if (wanted <= most) return;
  const needed = PLANS.find((each) => RETENTION_DAYS[each] >= wanted)!;
  throw new Failure("PLAN_RESTRICTED", `Keeping events for ${wanted} days needs the ${needed} plan; the ${plan} plan keeps them for at most ${most} days.`, {
    path: "/retention_days",
    fix: `Give at most ${most}, or change to the ${needed} plan.`,
  });
}
