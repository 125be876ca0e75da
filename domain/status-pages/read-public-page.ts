import { eq, sql } from "drizzle-orm";
import { isUuid } from "../../platform/ids.ts";
import type { Database, Queries } from "../../platform/postgres/database.ts";
import { statusPages } from "../../schemas/tables/all.ts";
import { SERVICE_STATUSES, type ServiceStatus } from "../../schemas/vocabulary.ts";
import { secondsByDay, uptimeOf } from "../services/uptime.ts";
import type { PageSettings } from "./find-page.ts";
import { PAST_DAYS, UPTIME_DAYS, type Moment, type PageRecord, type PageUptime, type PublicIncident, type PublicMaintenance, type PublicPage, type PublicService } from "./public-page.ts";
import { incidentsOf, maintenanceOf, servicesOf } from "./public-sql.ts";

/** More than anybody reads on one page; the history has the rest. */
const MOST_SHOWN = 50;

const DAY_MS = 86_400_000;

/** What a page shows now, in one statement. */
export async function readPublicPage(queries: Queries, settings: PageSettings, now: Date): Promise<PublicPage> {
  const { page } = settings;
  const of = ofPage(settings);
  const past = new Date(now.getTime() - PAST_DAYS * DAY_MS).toISOString();
  const { rows } = await queries.execute<{ services: PublicService[]; open: PublicIncident[]; resolved: PublicIncident[]; maintenance: PublicMaintenance[] }>(sql`select
    ${servicesOf(of)} as services,
    ${incidentsOf({ ...of, where: sql`happening.status <> 'resolved'`, limit: MOST_SHOWN })} as open,
    ${incidentsOf({ ...of, where: sql`happening.status = 'resolved' and happening.resolved_at >= ${past}::timestamptz`, limit: MOST_SHOWN })} as resolved,
    ${maintenanceOf({ ...of, where: sql`happening.status in ('scheduled', 'in_progress')`, limit: MOST_SHOWN })} as maintenance`);
  const { services, open, resolved, maintenance } = rows[0]!;
  const incidents = [...open, ...resolved].toSorted((one, other) => other.startedAt.localeCompare(one.startedAt) || other.id.localeCompare(one.id));
  return {
    id: page.id,
    name: page.name,
    slug: page.slug,
    tagline: page.tagline,
    timezone: settings.timezone,
    createdAt: page.createdAt.toISOString(),
    updatedAt: latest([page.updatedAt.toISOString(), settings.published?.publishedAt?.toISOString() ?? "", ...[...services, ...incidents, ...maintenance].map(({ updatedAt }) => updatedAt)]),
    overall: worst(services.map(({ status }) => status)),
    services,
    incidents,
    maintenance: maintenance.toSorted((one, other) => Number(other.status === "in_progress") - Number(one.status === "in_progress") || one.startsAt.localeCompare(other.startsAt)),
  };
}

/** The uptime of services over the last days of their organization's time zone, today last, in one statement. */
export async function readPageUptime(queries: Queries, serviceIds: readonly string[], { timezone, now }: { timezone: string; now: Date }): Promise<PageUptime> {
  if (serviceIds.length === 0) return {};
  const shares = await secondsByDay(queries, { serviceIds, timezone, days: UPTIME_DAYS, now });
  return Object.fromEntries([...shares].map(([id, ofService]) => [id, uptimeOf(ofService)]));
}

/** What happened on a page between two moments (the end excluded), at most `limit` of each. */
export async function readPageRecord(queries: Queries, settings: PageSettings, { from, until, limit }: { from?: Moment; until?: Moment; limit: number }): Promise<PageRecord> {
  const of = ofPage(settings);
  const between = (column: "started_at" | "starts_at") =>
    sql`happening.${sql.identifier(column)} >= ${from ?? "-infinity"}::timestamptz and happening.${sql.identifier(column)} < ${until ?? "infinity"}::timestamptz`;
  const { rows } = await queries.execute<{ incidents: PublicIncident[]; maintenance: PublicMaintenance[] }>(sql`select
    ${incidentsOf({ ...of, where: between("started_at"), limit })} as incidents,
    ${maintenanceOf({ ...of, where: between("starts_at"), limit })} as maintenance`);
  return rows[0]!;
}

/** One incident of a page; null for one that it does not show. */
export async function readPublicIncident(queries: Queries, settings: PageSettings, id: string): Promise<PublicIncident | null> {
  if (!isUuid(id)) return null;
  const { rows } = await queries.execute<{ incidents: PublicIncident[] }>(sql`select ${incidentsOf({ ...ofPage(settings), where: sql`happening.id = ${id}`, limit: 1 })} as incidents`);
  return rows[0]!.incidents[0] ?? null;
}

/** Names and slugs of public pages for the start page, by name; at most `limit`. */
export async function listPublicPages(database: Database, limit: number): Promise<{ name: string; slug: string }[]> {
  return database.select({ name: statusPages.name, slug: statusPages.slug }).from(statusPages).where(eq(statusPages.visibility, "public")).orderBy(statusPages.name, statusPages.id).limit(limit);
}

function ofPage({ page }: PageSettings): { organizationId: string; pageId: string } {
  return { organizationId: page.organizationId, pageId: page.id };
}

function worst(statuses: ServiceStatus[]): ServiceStatus | null {
  return statuses.reduce<ServiceStatus | null>((found, each) => (found === null || SERVICE_STATUSES.indexOf(each) > SERVICE_STATUSES.indexOf(found) ? each : found), null);
}

function latest(moments: readonly Moment[]): Moment {
  return moments.reduce((found, each) => (each > found ? each : found));
}
