import { sql } from "drizzle-orm";
import { derivedId } from "../../platform/ids.ts";
import type { Transaction } from "../../platform/postgres/database.ts";
import { dailyCreations, releases, services } from "../../schemas/tables/all.ts";

/** A release that an event named; an empty one is none. */
interface SeenRelease {
  organizationId: string;
  serviceId: string;
  release: string;
  environment: string;
  /** ISO 8601. */
  seenAt: string;
}

/** How many releases of a service events may make on a day; 0 is unlimited. */
interface ReleaseBound {
  /** `YYYY-MM-DD` */
  day: string;
  bound: number;
}

/**
 * Makes the releases that events named for the first time, in one statement whatever their number. Each is made of the
 * earliest event that names it. Services that were deleted meanwhile are left out. Nearly always there is nothing to
 * make, and then nothing is locked. Past a service's bound none is made: events keep the name of theirs. Returns the
 * service of each release that was made; the caller counts them.
 */
export async function noteSeenReleases(tx: Transaction, seen: Iterable<SeenRelease>, { day, bound }: ReleaseBound): Promise<string[]> {
  const first = new Map<string, SeenRelease>();
  for (const each of seen) {
    if (each.release === "") continue;
    const key = `${each.serviceId} ${each.release}`;
    const known = first.get(key);
    if (!known || each.seenAt < known.seenAt) first.set(key, each);
  }
  if (first.size === 0) return [];
  const rows = [...first.values()].map(({ organizationId, serviceId, release, environment, seenAt }) => ({
    id: derivedId("release", serviceId, release),
    organization_id: organizationId,
    service_id: serviceId,
    version: release,
    environment,
    created_at: seenAt,
  }));
  const { rows: made } = await tx.execute<{ service_id: string }>(sql`
    with missing as (
      select row.*, row_number() over (partition by row.service_id order by row.created_at, row.version) as number
      from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb)
        as row (id uuid, organization_id uuid, service_id uuid, version text, environment text, created_at timestamptz)
      where not exists (select from ${releases} as known where known.service_id = row.service_id and known.version = row.version)
    )
    insert into ${releases} (id, organization_id, service_id, version, environment, created_at)
    select missing.id, missing.organization_id, missing.service_id, missing.version, missing.environment, missing.created_at
    from missing
    join ${services} as service on service.id = missing.service_id and service.organization_id = missing.organization_id
    left join ${dailyCreations} as made on made.service_id = missing.service_id and made.day = ${day}::date and made.kind = 'release'
    where ${bound} = 0 or missing.number <= ${bound} - coalesce(made.count, 0)
    order by missing.service_id, missing.version
    for key share of service
    on conflict do nothing
    returning service_id`);
  return made.map(({ service_id: serviceId }) => serviceId);
}
