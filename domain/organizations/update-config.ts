import { eq, sql } from "drizzle-orm";
import { Failure } from "../../platform/failures.ts";
import { inTransaction, postgresCode, type Database } from "../../platform/postgres/database.ts";
import type { OrganizationConfig, UpdateOrganizationConfig } from "../../schemas/api/organizations.ts";
import { organizations } from "../../schemas/tables/all.ts";
import { DEFAULT_THRESHOLDS } from "../../schemas/thresholds.ts";
import type { Actor } from "../actor.ts";
import { recordAudit } from "../audit/record.ts";
import { timezoneProblem } from "../heartbeats/schedule.ts";
import { mergeThresholds, requireFewMetrics } from "../services/merge-thresholds.ts";
import { queueOwnerCode } from "./owner-email.ts";
import { noSuchOrganization, showOrganizationConfig } from "./read.ts";
import { requireRetentionDays } from "./retention-days.ts";

/** Changes an organization's configuration; what is left out stays. A new address of the owner is mailed a code. INVALID_REQUEST for a time zone that is none, and for the plan; PLAN_RESTRICTED for a longer retention than the plan has; RATE_LIMITED when too many codes were sent today. */
export async function updateOrganizationConfig(database: Database, actor: Actor, patch: UpdateOrganizationConfig, at: Date): Promise<OrganizationConfig> {
  if (patch.plan !== undefined) {
    throw new Failure("INVALID_REQUEST", "The plan cannot be changed here.", { path: "/plan", fix: "Leave plan out. Whoever runs this service changes an organization's plan." });
  }
  const { name, owner_email: ownerEmail, timezone, language, retention_days: retentionDays, default_thresholds: thresholds } = patch;
  if (timezone !== undefined) await requireTimezone(database, timezone);
  return inTransaction(database, async (tx) => {
    // Not `for update`: that would also wait for everybody who only refers to the organization by a foreign key.
    const [before] = await tx.select().from(organizations).where(eq(organizations.id, actor.organizationId)).for("no key update");
    if (!before) throw noSuchOrganization();
    if (retentionDays !== undefined) requireRetentionDays(before.plan, retentionDays);
    const defaultThresholds = thresholds === undefined ? undefined : mergeThresholds(before.defaultThresholds, thresholds, DEFAULT_THRESHOLDS);
    requireFewMetrics(defaultThresholds ?? null, before.defaultThresholds, "/default_thresholds");
    const isNewAddress = ownerEmail !== undefined && ownerEmail !== before.ownerEmail;
    const [row] = await tx
      .update(organizations)
      .set({ name, ownerEmail, ...(isNewAddress && { ownerEmailConfirmedAt: null, codeHash: null }), timezone, language, retentionDays, defaultThresholds, updatedAt: at })
      .where(eq(organizations.id, actor.organizationId))
      .returning();
    if (isNewAddress) await queueOwnerCode(tx, row!, at);
    const after = showOrganizationConfig(row!);
    await recordAudit(tx, actor, { action: "config.updated", resourceType: "organization", resourceId: actor.organizationId, before: showOrganizationConfig(before), after });
    return after;
  });
}

/** Days are computed by Postgres in this zone, so it must know it too, not only Node. */
async function requireTimezone(database: Database, timezone: string): Promise<void> {
  const problem = timezoneProblem(timezone) ?? ((await isKnownToPostgres(database, timezone)) ? null : `"${timezone}" is no time zone that the database knows.`);
  if (problem !== null) throw new Failure("INVALID_REQUEST", problem, { path: "/timezone", fix: "Give an IANA time zone such as Europe/Berlin." });
}

async function isKnownToPostgres(database: Database, timezone: string): Promise<boolean> {
  try {
    await database.execute(sql`select now() at time zone ${timezone}`);
    return true;
  } catch (error) {
    if (postgresCode(error) === "22023") return false;
    throw error;
  }
}
