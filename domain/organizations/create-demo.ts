import { eq, sql } from "drizzle-orm";
import { inTransaction, type Database } from "../../platform/postgres/database.ts";
import { organizations, services } from "../../schemas/tables/all.ts";
import { DEFAULT_THRESHOLDS } from "../../schemas/thresholds.ts";
import { openIncidentIn } from "../incidents/open.ts";
import { createOrganizationIn, type CreatedOrganization } from "./create.ts";

/** Any number that no other advisory lock of Pharos uses. */
const FIRST_START_LOCK = 7_316_402_117;

const SERVICES = [
  { name: "Website", description: "What visitors see first." },
  { name: "Checkout", description: "Takes orders and payments." },
  { name: "Search", description: "Finds products." },
] as const;

/**
 * Makes the demo organization when there is no organization at all, so on the first start: the team plan, services,
 * a page at /pages/demo, an open incident. Of several processes that start at once one makes it. Null for the others.
 */
export async function createDemo(database: Database, at = new Date()): Promise<CreatedOrganization | null> {
  return inTransaction(database, async (tx) => {
    await tx.execute(sql`select pg_advisory_xact_lock(${FIRST_START_LOCK})`);
    const [existing] = await tx.select({ id: organizations.id }).from(organizations).limit(1);
    if (existing) return null;
    const demo = { name: "Demo", plan: "team", demo: true, services: SERVICES, tagline: "A page to try Pharos with." } as const;
    const { created, actor, serviceIds } = await createOrganizationIn(tx, demo, at);
    // So that the push which the first start prints shows what a push can do.
    await tx.update(services).set({ thresholds: { ...DEFAULT_THRESHOLDS, create_incident: true } }).where(eq(services.id, serviceIds[0]!));
    await openIncidentIn(tx, actor, {
      title: "Search answers slowly",
      severity: "minor",
      message: "Some searches take longer than five seconds. We are looking into it.",
      serviceIds: [serviceIds[2]!],
      at,
    });
    return created;
  });
}
