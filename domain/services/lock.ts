import { sql, type SQL } from "drizzle-orm";
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
  // Not `for update`: that would also wait for everybody who only refers to a service by a foreign key.
  const { rows } = await tx.execute<LockedRow>(sql`
    select id, organization_id, name, status, status_source, display_order, created_at, updated_at
    from ${services} where ${condition} order by ${services.id} for no key update`);
  return rows.map((row) => ({
    id: row.id,
    organizationId: row.organization_id,
    name: row.name,
    status: row.status,
    statusSource: row.status_source,
    displayOrder: row.display_order,
    createdAt: new Date(row.created_at),
    updatedAt: new Date(row.updated_at),
  }));
}

interface LockedRow extends Record<string, unknown> {
  id: string;
  organization_id: string;
  name: string;
  status: ServiceStatus;
  status_source: OpinionSource;
  display_order: number;
  created_at: string;
  updated_at: string;
}
