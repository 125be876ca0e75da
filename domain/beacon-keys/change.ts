import { eq } from "drizzle-orm";
import { inTransaction, type Database } from "../../platform/postgres/database.ts";
import type { BeaconKey, UpdateBeaconKey } from "../../schemas/api/beacon-keys.ts";
import { beaconKeys } from "../../schemas/tables/all.ts";
import type { Actor } from "../actor.ts";
import { recordAudit } from "../audit/record.ts";
import { findService } from "../services/read.ts";
import { lockBeaconKey, showBeaconKey } from "./read.ts";

/** Changes a beacon key; what is left out stays. NOT_FOUND for the key or the service. */
export async function updateBeaconKey(database: Database, actor: Actor, id: string, patch: UpdateBeaconKey): Promise<BeaconKey> {
  return inTransaction(database, async (tx) => {
    const before = await lockBeaconKey(tx, actor.organizationId, id);
    const { name = before.name, service_id: serviceId = before.serviceId, allowed_origins: allowedOrigins = before.allowedOrigins } = patch;
    if (serviceId !== before.serviceId) await findService(tx, actor.organizationId, serviceId);
    const [row] = await tx.update(beaconKeys).set({ name, serviceId, allowedOrigins }).where(eq(beaconKeys.id, id)).returning();
    const after = showBeaconKey(row!);
    await recordAudit(tx, actor, { action: "beacon_key.updated", resourceType: "beacon_key", resourceId: id, before: showBeaconKey(before), after });
    return after;
  });
}

/** Deletes a beacon key: edges refuse it within seconds. The row stays, marked, so that they hear of it. NOT_FOUND. */
export async function deleteBeaconKey(database: Database, actor: Actor, id: string, at: Date): Promise<void> {
  await inTransaction(database, async (tx) => {
    const before = await lockBeaconKey(tx, actor.organizationId, id);
    await tx.update(beaconKeys).set({ deletedAt: at }).where(eq(beaconKeys.id, id));
    await recordAudit(tx, actor, { action: "beacon_key.deleted", resourceType: "beacon_key", resourceId: id, before: showBeaconKey(before), after: null });
  });
}
