import { eq } from "drizzle-orm";
import { Failure } from "../../platform/failures.ts";
import type { Queries } from "../../platform/postgres/database.ts";
import type { OrganizationConfig } from "../../schemas/api/organizations.ts";
import { organizations } from "../../schemas/tables/all.ts";
import { keptRetentionDays } from "./retention-days.ts";

/** What an organization has configured. NOT_FOUND when it was deleted meanwhile. */
export async function getOrganizationConfig(queries: Queries, organizationId: string): Promise<OrganizationConfig> {
  const [row] = await queries.select().from(organizations).where(eq(organizations.id, organizationId));
  if (!row) throw noSuchOrganization();
  return showOrganizationConfig(row);
}

export function noSuchOrganization(): Failure {
  return new Failure("NOT_FOUND", "No such organization.");
}

export function showOrganizationConfig(row: typeof organizations.$inferSelect): OrganizationConfig {
  return {
    name: row.name,
    owner_email: row.ownerEmail,
    owner_email_confirmed: row.ownerEmailConfirmedAt !== null,
    timezone: row.timezone,
    language: row.language,
    default_thresholds: row.defaultThresholds,
    retention_days: keptRetentionDays(row.plan, row.retentionDays),
    plan: row.plan,
  };
}
