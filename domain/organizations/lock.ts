import { eq } from "drizzle-orm";
import { Failure } from "../../platform/failures.ts";
import type { Transaction } from "../../platform/postgres/database.ts";
import { organizations } from "../../schemas/tables/all.ts";
import type { Plan } from "../../schemas/vocabulary.ts";

/**
 * Locks an organization until the transaction ends, before anything else of it is locked, and tells its plan: what
 * follows happens one at a time. Whoever only refers to it by a foreign key does not wait. NOT_FOUND when it is gone.
 */
export async function lockOrganization(tx: Transaction, organizationId: string): Promise<Plan> {
  const [organization] = await tx.select({ plan: organizations.plan }).from(organizations).where(eq(organizations.id, organizationId)).for("no key update");
  if (!organization) throw new Failure("NOT_FOUND", "No such organization.");
  return organization.plan;
}
