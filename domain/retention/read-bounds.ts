import { lt, sql } from "drizzle-orm";
import type { Database } from "../../platform/postgres/database.ts";
import { deletions, organizations, services } from "../../schemas/tables/all.ts";
import { keptRetentionDays } from "../organizations/retention-days.ts";

/** For how long a deletion is remembered: until no row of what was deleted can come any more, out of the log or an edge's spool. */
const DELETIONS_KEPT_DAYS = 35;

const BATCH = 1_000;

/** How long everybody's rows are kept, and what was deleted. */
export interface RetentionBounds {
  /** Days by organization. */
  organizations: ReadonlyMap<string, number>;
  /** Days by service: those of its organization. */
  services: ReadonlyMap<string, number>;
  deleted: Record<"service" | "monitor", string[]>;
}

/** Reads what bounds rows. A retention beyond the plan counts as the plan's. What stands in Postgres never counts as deleted. */
export async function readRetentionBounds(database: Database): Promise<RetentionBounds> {
  const known = await database.select({ id: organizations.id, plan: organizations.plan, retentionDays: organizations.retentionDays }).from(organizations);
  const days = new Map(known.map(({ id, plan, retentionDays }) => [id, keptRetentionDays(plan, retentionDays)]));
  const owned = await database.select({ id: services.id, organizationId: services.organizationId }).from(services);
  const { rows } = await database.execute<{ id: string; kind: "service" | "monitor" }>(sql`
    select id, kind from ${deletions} as noted
    where not exists (select from services where services.id = noted.id)
      and not exists (select from uptime_monitors as monitor where monitor.id = noted.id)
      and not exists (select from ssl_monitors as monitor where monitor.id = noted.id)
      and not exists (select from domain_monitors as monitor where monitor.id = noted.id)
      and not exists (select from heartbeat_monitors as monitor where monitor.id = noted.id and monitor.deleted_at is null)`);
  const idsOf = (wanted: string) => rows.filter(({ kind }) => kind === wanted).map(({ id }) => id);
  return {
    organizations: days,
    services: new Map(owned.flatMap(({ id, organizationId }) => (days.has(organizationId) ? [[id, days.get(organizationId)!] as const] : []))),
    deleted: { service: idsOf("service"), monitor: idsOf("monitor") },
  };
}

/** Forgets deletions of which nothing can come any more; call it after their rows were looked for. Returns how many. */
export async function forgetDeletions(database: Database, now: Date): Promise<number> {
  const old = database.select({ id: deletions.id }).from(deletions).where(lt(deletions.deletedAt, new Date(now.getTime() - DELETIONS_KEPT_DAYS * 86_400_000))).limit(BATCH);
  let deleted = 0;
  for (let more = true; more; ) {
    const { rowCount } = await database.delete(deletions).where(sql`${deletions.id} in (${old.getSQL()})`);
    deleted += rowCount ?? 0;
    more = rowCount === BATCH;
  }
  return deleted;
}
