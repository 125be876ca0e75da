import { and, eq, isNull } from "drizzle-orm";
import { inTransaction, type Database, type Transaction } from "../../platform/postgres/database.ts";
import type { Service, UpdateService } from "../../schemas/api/services.ts";
import { metricStates, services } from "../../schemas/tables/all.ts";
import type { ServiceStatus } from "../../schemas/vocabulary.ts";
import type { Actor } from "../actor.ts";
import { recordAudit } from "../audit/record.ts";
import { changeOpinions, overruleOpinion } from "./change-status.ts";
import { effectiveThresholds } from "./effective-thresholds.ts";
import { lockServices } from "./lock.ts";
import { mergeThresholds, requireFewMetrics } from "./merge-thresholds.ts";
import { findService, getService, showService } from "./read.ts";

/** Changes a service; what is left out stays. NOT_FOUND; INVALID_REQUEST for thresholds of too many metrics. */
export async function updateService(database: Database, actor: Actor, id: string, patch: UpdateService, at: Date): Promise<Service> {
  return inTransaction(database, async (tx) => {
    await findService(tx, actor.organizationId, id);
    // Read again under the lock: thresholds merge into what is there now.
    await lockServices(tx, [id]);
    const found = await findService(tx, actor.organizationId, id);
    const { name, description, display_order: displayOrder } = patch;
    const thresholds = patch.thresholds === undefined ? undefined : mergeThresholds(found.service.thresholds, patch.thresholds, effectiveThresholds(null, found.defaults));
    requireFewMetrics(thresholds ?? null, found.service.thresholds, "/thresholds");
    const updatedAt = at > found.service.updatedAt ? at : found.service.updatedAt;
    await tx.update(services).set({ name, description, displayOrder, thresholds, updatedAt }).where(eq(services.id, id));
    if (patch.status !== undefined) await setByHand(tx, id, patch.status, at);
    const updated = await getService(tx, actor.organizationId, id);
    await recordAudit(tx, actor, { action: "service.updated", resourceType: "service", resourceId: id, before: showService(found), after: updated });
    return updated;
  });
}

/**
 * A person knows better than what machines measured so far: their opinions go until they next change (conventions §2).
 * What monitors say is kept without weight, so that another of them falling or rising beside one that is down is no change.
 * The level of the metrics stays, with its counts begun anew: only a push of another level brings an opinion back.
 */
async function setByHand(tx: Transaction, serviceId: string, status: ServiceStatus, at: Date): Promise<void> {
  const reason = "Set by hand.";
  await overruleOpinion(tx, serviceId, "monitors");
  await tx.delete(metricStates).where(and(eq(metricStates.serviceId, serviceId), isNull(metricStates.level)));
  await tx.update(metricStates).set({ breaches: 0, clears: 0, updatedAt: at }).where(eq(metricStates.serviceId, serviceId));
  await changeOpinions(
    tx,
    [
      { serviceId, source: "metrics", status: null, reason },
      { serviceId, source: "manual", status, reason },
    ],
    at,
  );
}
