import { and, desc, eq, isNull } from "drizzle-orm";
import { Failure } from "../../platform/failures.ts";
import { isUuid } from "../../platform/ids.ts";
import type { Queries, Transaction } from "../../platform/postgres/database.ts";
import type { BeaconKey, BeaconKeyListQuery } from "../../schemas/api/beacon-keys.ts";
import { beaconKeys } from "../../schemas/tables/all.ts";

type BeaconKeyRow = typeof beaconKeys.$inferSelect;

/** An organization's beacon keys, newest first. */
export async function listBeaconKeys(queries: Queries, organizationId: string, { limit, offset }: BeaconKeyListQuery): Promise<BeaconKey[]> {
  const rows = await queries
    .select()
    .from(beaconKeys)
    .where(and(eq(beaconKeys.organizationId, organizationId), isNull(beaconKeys.deletedAt)))
    .orderBy(desc(beaconKeys.createdAt), desc(beaconKeys.id))
    .limit(limit)
    .offset(offset);
  return rows.map(showBeaconKey);
}

/** A beacon key, locked until the transaction ends. NOT_FOUND for ids that are unknown, malformed, deleted or of another organization. */
export async function lockBeaconKey(tx: Transaction, organizationId: string, id: string): Promise<BeaconKeyRow> {
  const own = and(eq(beaconKeys.organizationId, organizationId), eq(beaconKeys.id, id), isNull(beaconKeys.deletedAt));
  const [row] = isUuid(id) ? await tx.select().from(beaconKeys).where(own).for("update") : [];
  if (!row) throw new Failure("NOT_FOUND", "No such beacon key.");
  return row;
}

export function showBeaconKey(row: BeaconKeyRow): BeaconKey {
  return { id: row.id, name: row.name, key: row.key, service_id: row.serviceId, allowed_origins: row.allowedOrigins, created_at: row.createdAt.toISOString() };
}
