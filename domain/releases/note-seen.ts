import { sql } from "drizzle-orm";
import { derivedId } from "../../platform/ids.ts";
import type { Transaction } from "../../platform/postgres/database.ts";
import { releases, services } from "../../schemas/tables/all.ts";

/** A release that an event named; an empty one is none. */
interface SeenRelease {
  organizationId: string;
  serviceId: string;
  release: string;
  environment: string;
  /** ISO 8601. */
  seenAt: string;
}

/**
 * Makes the releases that events named for the first time, in one statement whatever their number. Each is made of the
 * earliest event that names it. Services that were deleted meanwhile are left out. Nearly always there is nothing to
 * make, and then nothing is locked.
 */
export async function noteSeenReleases(tx: Transaction, seen: Iterable<SeenRelease>): Promise<void> {
  const first = new Map<string, SeenRelease>();
  for (const each of seen) {
    if (each.release === "") continue;
    const key = `${each.serviceId} ${each.release}`;
    const known = first.get(key);
    if (!known || each.seenAt < known.seenAt) first.set(key, each);
  }
  if (first.size === 0) return;
  const rows = [...first.values()].map(({ organizationId, serviceId, release, environment, seenAt }) => ({
    id: derivedId("release", serviceId, release),
    organization_id: organizationId,
    service_id: serviceId,
    version: release,
    environment,
    created_at: seenAt,
  }));
  await tx.execute(sql`
    insert into ${releases} (id, organization_id, service_id, version, environment, created_at)
    select row.id, row.organization_id, row.service_id, row.version, row.environment, row.created_at
    from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb)
      as row (id uuid, organization_id uuid, service_id uuid, version text, environment text, created_at timestamptz)
    join ${services} as service on service.id = row.service_id and service.organization_id = row.organization_id
    where not exists (select from ${releases} as known where known.service_id = row.service_id and known.version = row.version)
    order by row.service_id, row.version
    for key share of service
    on conflict do nothing`);
}
