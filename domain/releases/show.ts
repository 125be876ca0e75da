import { sql } from "drizzle-orm";
import type { Queries } from "../../platform/postgres/database.ts";
import type { Release } from "../../schemas/api/releases.ts";
import { errorSignatures, events, sourceMaps, type releases } from "../../schemas/tables/all.ts";

export type ReleaseRow = typeof releases.$inferSelect;

/** Releases as the API shows them, all with their numbers of errors and maps from one query. */
export async function showReleases(queries: Queries, rows: readonly ReleaseRow[]): Promise<Release[]> {
  if (rows.length === 0) return [];
  const counts = await countPerRelease(queries, rows);
  return rows.map((row) => showRelease(row, counts.get(row.id)));
}

type Counts = Pick<Release, "new_errors" | "regressed_errors" | "sourcemap_count">;

/** Without counts where they are of no concern. */
export function showRelease(row: ReleaseRow, counts: Counts = { new_errors: 0, regressed_errors: 0, sourcemap_count: 0 }): Release {
  return {
    id: row.id,
    service_id: row.serviceId,
    version: row.version,
    environment: row.environment,
    url: row.url,
    commits: row.commits,
    released_at: row.releasedAt?.toISOString() ?? null,
    ...counts,
    created_at: row.createdAt.toISOString(),
  };
}

/** Regressions are counted by what was told of them: a signature's status of today says nothing of the past. */
async function countPerRelease(queries: Queries, rows: readonly ReleaseRow[]): Promise<Map<string, Counts>> {
  const asked = JSON.stringify(rows.map(({ id, serviceId, organizationId, version }) => ({ id, service_id: serviceId, organization_id: organizationId, version })));
  const { rows: counted } = await queries.execute<{ id: string; new_errors: string; regressed_errors: string; maps: string }>(sql`
    with asked as (
      select * from jsonb_to_recordset(${asked}::jsonb) as row (id uuid, service_id uuid, organization_id uuid, version text)
    ), fresh as (
      select asked.id, counted.errors
      from asked cross join lateral (
        select count(*) as errors from ${errorSignatures} as signature
        where signature.organization_id = asked.organization_id and signature.service_id = asked.service_id and signature.release = asked.version
      ) as counted
    ), returned as (
      select asked.id, count(distinct event.data ->> 'id') as errors
      from ${events} as event
      join asked on asked.organization_id = event.organization_id and asked.service_id::text = event.data ->> 'service_id' and asked.version = event.data ->> 'release'
      where event.type = 'error.regressed'
      group by asked.id
    ), mapped as (
      select asked.id, count(*) as maps
      from ${sourceMaps} as map join asked on asked.service_id = map.service_id and asked.version = map.release
      group by asked.id
    )
    select asked.id, coalesce(fresh.errors, 0) as new_errors, coalesce(returned.errors, 0) as regressed_errors, coalesce(mapped.maps, 0) as maps
    from asked left join fresh using (id) left join returned using (id) left join mapped using (id)`);
  return new Map(counted.map(({ id, new_errors: fresh, regressed_errors: returned, maps }) => [id, { new_errors: Number(fresh), regressed_errors: Number(returned), sourcemap_count: Number(maps) }]));
}
