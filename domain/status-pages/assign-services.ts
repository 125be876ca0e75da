import { and, eq, inArray, sql } from "drizzle-orm";
import { Failure } from "../../platform/failures.ts";
import { isUuid } from "../../platform/ids.ts";
import { inTransaction, type Database, type Transaction } from "../../platform/postgres/database.ts";
import { services, statusPages, statusPageServices } from "../../schemas/tables/all.ts";
import type { Actor } from "../actor.ts";
import { recordAudit } from "../audit/record.ts";
import { listAssignedServices, lockStatusPage } from "./read.ts";

/**
 * Replaces the services that a page shows, in this order. NOT_FOUND for the page; INVALID_REQUEST for an id that is
 * malformed, unknown or given twice; FOREIGN_SERVICE for one of another organization (specification §4.1).
 */
export async function assignServices(database: Database, actor: Actor, pageId: string, serviceIds: readonly string[], at: Date): Promise<void> {
  await inTransaction(database, async (tx) => {
    const page = await lockStatusPage(tx, actor.organizationId, pageId);
    const ids = await requireOwnServices(tx, actor.organizationId, serviceIds);
    const before = await listAssignedServices(tx, pageId);
    await tx.delete(statusPageServices).where(eq(statusPageServices.statusPageId, pageId));
    if (ids.length > 0) await tx.insert(statusPageServices).values(ids.map((serviceId, displayOrder) => ({ organizationId: actor.organizationId, statusPageId: pageId, serviceId, displayOrder })));
    await tx.update(statusPages).set({ updatedAt: at > page.updatedAt ? at : page.updatedAt }).where(eq(statusPages.id, pageId));
    await recordAudit(tx, actor, {
      action: "status_page.services_assigned",
      resourceType: "status_page",
      resourceId: pageId,
      before: { service_ids: before.map(({ service_id: id }) => id) },
      after: { service_ids: ids },
    });
  });
}

/** The ids in lower case, held against deletion until the transaction ends. */
async function requireOwnServices(tx: Transaction, organizationId: string, given: readonly string[]): Promise<string[]> {
  const ids = given.map((id) => id.toLowerCase());
  const malformed = ids.findIndex((id) => !isUuid(id));
  if (malformed >= 0) throw invalid(malformed, "This is no service's id.");
  const twice = ids.findIndex((id, at) => ids.indexOf(id) < at);
  if (twice >= 0) throw invalid(twice, "This service is named twice.");
  if (ids.length === 0) return ids;
  const rows = await tx.select({ id: services.id }).from(services).where(and(eq(services.organizationId, organizationId), inArray(services.id, ids))).orderBy(services.id).for("key share");
  const own = new Set(rows.map(({ id }) => id));
  const missing = ids.findIndex((id) => !own.has(id));
  if (missing >= 0) throw (await existsElsewhere(tx, ids[missing]!)) ? foreign(missing) : invalid(missing, "There is no service with this id.");
  return ids;
}

/** Whether any organization has the service: a caller's connection sees only its own rows, so Postgres is asked by a function. */
async function existsElsewhere(tx: Transaction, id: string): Promise<boolean> {
  const { rows } = await tx.execute<{ found: boolean }>(sql`select pharos_service_exists(${id}) as found`);
  return rows[0]!.found;
}

function foreign(at: number): Failure {
  return new Failure("FOREIGN_SERVICE", "This service belongs to another organization.", { path: `/service_ids/${at}`, fix: "GET /api/v1/services lists your services." });
}

function invalid(at: number, sentence: string): Failure {
  return new Failure("INVALID_REQUEST", sentence, { path: `/service_ids/${at}`, fix: "GET /api/v1/services lists the ids." });
}
