import { eq } from "drizzle-orm";
import type { Database } from "../../../platform/postgres/database.ts";
import { WORKFLOW_STEPS_PER_DAY } from "../../../schemas/plans.ts";
import { organizations } from "../../../schemas/tables/all.ts";
import { raiseDayCount } from "../../day-counts.ts";
import { StepFailure } from "./fill-templates.ts";

/**
 * Counts a step before it is taken, committed by itself: whatever comes of the step, it counts. StepFailure
 * when the organization has used up its day (UTC).
 */
export async function countStep(database: Database, organizationId: string, at: Date): Promise<void> {
  const [organization] = await database
    .select({ plan: organizations.plan })
    .from(organizations)
    .where(eq(organizations.id, organizationId));
  if (!organization) return;
  const { plan } = organization;
  const most = WORKFLOW_STEPS_PER_DAY[plan];
  if (await raiseDayCount(database, { organizationId, subject: "workflow steps", at, most })) return;
  throw new StepFailure(`The ${plan} plan carries out ${most.toLocaleString("en")} steps of workflows a day (UTC), and today's are used up.`);
}
