import { and, desc, eq, inArray, ne } from "drizzle-orm";
import type { Database } from "../../platform/postgres/database.ts";
import { incidents, incidentServices, incidentUpdates, services, statusPages, statusPageServices } from "../../schemas/tables/all.ts";
import { SERVICE_STATUSES, type IncidentSeverity, type IncidentStatus, type ServiceStatus } from "../../schemas/vocabulary.ts";
import { opensPage } from "./access-link.ts";
import type { StatusPageRow } from "./columns.ts";

/** Everything that the public page of a slug shows, and nothing that it does not. */
export interface PublicPage {
  name: string;
  slug: string;
  tagline: string | null;
  /** The worst status of its services; null when it shows none. */
  overall: ServiceStatus | null;
  language: string;
  showSubscribeForm: boolean;
  services: { id: string; name: string; description: string; status: ServiceStatus }[];
  /** Newest first. */
  openIncidents: PublicIncident[];
}

interface PublicIncident {
  title: string;
  status: IncidentStatus;
  severity: IncidentSeverity;
  startedAt: Date;
  /** Names of those affected services that the page shows. */
  services: string[];
  /** Newest first. */
  updates: { status: IncidentStatus; message: string; createdAt: Date }[];
}

/** What a visitor who followed a link to a private page brings, and when. */
export interface FollowedLink {
  token: string;
  now: number;
}

/** Closed unless opened: visibilities that ask a visitor for something are not shown until the page can ask. */
export function maySee(page: StatusPageRow, link: FollowedLink | undefined): boolean {
  if (page.visibility === "public" || page.visibility === "unlisted") return true;
  return page.visibility === "private" && link !== undefined && opensPage(link.token, page.slug, page.accessLinkSecret, link.now);
}

/**
 * The read model of a page, or null when no page that this visitor may see has this slug. `link` is what a link to a private
 * page carries. An open incident is shown
 * when it affects a service of the page, or none at all.
 */
export async function readPublicPage(database: Database, slug: string, link?: FollowedLink): Promise<PublicPage | null> {
  const [page] = await database.select().from(statusPages).where(eq(statusPages.slug, slug));
  if (!page || !maySee(page, link)) return null;
  const shown = await database
    .select({ id: services.id, name: services.name, description: services.description, status: services.status })
    .from(statusPageServices)
    .innerJoin(services, eq(services.id, statusPageServices.serviceId))
    .where(eq(statusPageServices.statusPageId, page.id))
    .orderBy(statusPageServices.displayOrder, services.id);
  return {
    name: page.name,
    slug: page.slug,
    tagline: page.tagline,
    overall: worst(shown.map(({ status }) => status)),
    language: page.language,
    showSubscribeForm: page.showSubscribeForm,
    services: shown,
    openIncidents: await readOpenIncidents(database, page.organizationId, new Map(shown.map(({ id, name }) => [id, name]))),
  };
}

function worst(statuses: ServiceStatus[]): ServiceStatus | null {
  return statuses.reduce<ServiceStatus | null>((found, each) => (found === null || SERVICE_STATUSES.indexOf(each) > SERVICE_STATUSES.indexOf(found) ? each : found), null);
}

async function readOpenIncidents(database: Database, organizationId: string, names: ReadonlyMap<string, string>): Promise<PublicIncident[]> {
  const open = await database
    .select()
    .from(incidents)
    .where(and(eq(incidents.organizationId, organizationId), ne(incidents.status, "resolved")))
    .orderBy(desc(incidents.startedAt), desc(incidents.id));
  const ids = open.map(({ id }) => id);
  if (ids.length === 0) return [];
  const [links, updates] = await Promise.all([
    database.select().from(incidentServices).where(inArray(incidentServices.incidentId, ids)),
    database.select().from(incidentUpdates).where(inArray(incidentUpdates.incidentId, ids)).orderBy(desc(incidentUpdates.createdAt), desc(incidentUpdates.id)),
  ]);
  return open.flatMap(({ id, title, status, severity, startedAt }) => {
    const affected = new Set(links.filter(({ incidentId }) => incidentId === id).map(({ serviceId }) => serviceId));
    const shown = [...names].filter(([serviceId]) => affected.has(serviceId)).map(([, name]) => name);
    if (affected.size > 0 && shown.length === 0) return [];
    const told = updates.filter(({ incidentId }) => incidentId === id).map(({ status, message, createdAt }) => ({ status, message, createdAt }));
    return [{ title, status, severity, startedAt, services: shown, updates: told }];
  });
}

/** Names and slugs of public pages for the start page, by name; at most `limit`. */
export async function listPublicPages(database: Database, limit: number): Promise<{ name: string; slug: string }[]> {
  return database.select({ name: statusPages.name, slug: statusPages.slug }).from(statusPages).where(eq(statusPages.visibility, "public")).orderBy(statusPages.name, statusPages.id).limit(limit);
}
