import { eq } from "drizzle-orm";
import { newId } from "../../platform/ids.ts";
import { inTransaction, type Database, type Transaction } from "../../platform/postgres/database.ts";
import type { CreateService, Service } from "../../schemas/api/services.ts";
import { organizations, services } from "../../schemas/tables/all.ts";
import type { Actor } from "../actor.ts";
import { recordAudit } from "../audit/record.ts";
import { requireRoom } from "../organizations/require-room.ts";
import { startStatus } from "./change-status.ts";
import { effectiveThresholds } from "./effective-thresholds.ts";
import { mergeThresholds, requireFewMetrics } from "./merge-thresholds.ts";
import { getService } from "./read.ts";

/** Makes a service; PLAN_LIMIT when the plan has no room for another. */
export async function createService(database: Database, actor: Actor, input: CreateService, at: Date): Promise<Service> {
  return inTransaction(database, (tx) => createServiceIn(tx, actor, input, at));
}

/** As `createService`, within a transaction. */
export async function createServiceIn(tx: Transaction, actor: Actor, input: CreateService, at: Date): Promise<Service> {
  const { organizationId } = actor;
  await requireRoom(tx, organizationId, "services");
  const { name, description, display_order: displayOrder, thresholds } = input;
  const id = newId();
  const defaults = thresholds === undefined ? null : await defaultThresholds(tx, organizationId);
  const own = defaults && mergeThresholds(null, thresholds!, defaults);
  requireFewMetrics(own, defaults, "/thresholds");
  await tx.insert(services).values({ id, organizationId, name, description, displayOrder, thresholds: own, createdAt: at, updatedAt: at });
  await startStatus(tx, { id, organizationId }, input.status, at);
  const created = await getService(tx, organizationId, id);
  await recordAudit(tx, actor, { action: "service.created", resourceType: "service", resourceId: id, before: null, after: created });
  return created;
}

async function defaultThresholds(tx: Transaction, organizationId: string) {
  const [row] = await tx.select({ defaults: organizations.defaultThresholds }).from(organizations).where(eq(organizations.id, organizationId));
  return effectiveThresholds(null, row?.defaults ?? null);
}
