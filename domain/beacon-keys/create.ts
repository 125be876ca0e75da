import { newId } from "../../platform/ids.ts";
import { inTransaction, type Database, type Transaction } from "../../platform/postgres/database.ts";
import type { BeaconKey, CreateBeaconKey } from "../../schemas/api/beacon-keys.ts";
import { beaconKeys } from "../../schemas/tables/all.ts";
import type { Actor } from "../actor.ts";
import { recordAudit } from "../audit/record.ts";
import { requireRoom } from "../organizations/require-room.ts";
import { findService } from "../services/read.ts";
import { makeBeaconKey } from "./format.ts";
import { showBeaconKey } from "./read.ts";

/** Makes a beacon key for a service. NOT_FOUND for the service; PLAN_LIMIT. */
export async function createBeaconKey(database: Database, actor: Actor, input: CreateBeaconKey, at: Date): Promise<BeaconKey> {
  return inTransaction(database, (tx) => createBeaconKeyIn(tx, actor, input, at));
}

/** As `createBeaconKey`, within a transaction. */
export async function createBeaconKeyIn(tx: Transaction, actor: Actor, input: CreateBeaconKey, at: Date): Promise<BeaconKey> {
  await requireRoom(tx, actor.organizationId, "beacon_keys");
  const { service } = await findService(tx, actor.organizationId, input.service_id);
  const [row] = await tx
    .insert(beaconKeys)
    .values({ id: newId(), organizationId: actor.organizationId, serviceId: service.id, name: input.name, key: makeBeaconKey(), allowedOrigins: input.allowed_origins, createdAt: at })
    .returning();
  const shown = showBeaconKey(row!);
  await recordAudit(tx, actor, { action: "beacon_key.created", resourceType: "beacon_key", resourceId: shown.id, before: null, after: shown });
  return shown;
}
