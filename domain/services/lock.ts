import { asc, sql, type SQL } from "drizzle-orm";
import type { Transaction } from "../../platform/postgres/database.ts";
import { uuids } from "../../platform/postgres/uuids.ts";
import { services } from "../../schemas/tables/all.ts";
import type { OpinionSource, ServiceStatus } from "../../schemas/vocabulary.ts";

export interface LockedService {
  id: string;
  organizationId: string;
  name: string;
  status: ServiceStatus;
  statusSource: OpinionSource;
  /** With `createdAt` and then `id`, the order in which services are listed. */
  displayOrder: number;
  createdAt: Date;
  updatedAt: Date;
}

/**
 * Locks services until the transaction ends, always in the order of their ids, so that two transactions
 * over the same services wait for each other instead of deadlocking. Whoever locks incidents too locks
 * services first. Ids that no longer exist are left out.
 */
export async function lockServices(tx: Transaction, ids: readonly string[]): Promise<LockedService[]> {
  if (ids.length === 0) return [];
  return lockServicesWhere(tx, sql`${services.id} = any(${uuids(new Set(ids))})`);
}

/** Locks the services that meet a condition, as `lockServices` does. */
export async function lockServicesWhere(tx: Transaction, condition: SQL): Promise<LockedService[]> {
  const { id, organizationId, name, status, statusSource, displayOrder, createdAt, updatedAt } = services;
  return tx
    .select({ id, organizationId, name, status, statusSource, displayOrder, createdAt, updatedAt })
    .from(services)
    .where(condition)
    .orderBy(asc(id))
    // Not `for update`: that would also wait for everybody who only refers to a service by a foreign key.
    .for("no key update");
}
