import { and, asc, desc, eq } from "drizzle-orm";
import { Failure } from "../../platform/failures.ts";
import { isUuid } from "../../platform/ids.ts";
import type { Queries, Transaction } from "../../platform/postgres/database.ts";
import type { AssignedService, StatusPage, StatusPageListQuery, StatusPageSummary } from "../../schemas/api/status-pages.ts";
import { services, statusPages, statusPageServices } from "../../schemas/tables/all.ts";
import { showStatusPage, showSummary, type StatusPageRow } from "./columns.ts";

/** An organization's pages, newest first. */
export async function listStatusPages(queries: Queries, organizationId: string, { limit, offset }: StatusPageListQuery): Promise<StatusPageSummary[]> {
  const rows = await queries
    .select()
    .from(statusPages)
    .where(eq(statusPages.organizationId, organizationId))
    .orderBy(desc(statusPages.createdAt), desc(statusPages.id))
    .limit(limit)
    .offset(offset);
  return rows.map(showSummary);
}

/** NOT_FOUND for ids that are unknown, malformed or of another organization. */
export async function getStatusPage(queries: Queries, organizationId: string, id: string): Promise<StatusPage> {
  const [row] = isUuid(id) ? await queries.select().from(statusPages).where(ownPage(organizationId, id)) : [];
  if (!row) throw noSuchPage();
  return showStatusPage(row);
}

/** A page as it is stored, locked until the transaction ends. Whoever locks the organization too does so before. NOT_FOUND. */
export async function lockStatusPage(tx: Transaction, organizationId: string, id: string): Promise<StatusPageRow> {
  const [row] = isUuid(id) ? await tx.select().from(statusPages).where(ownPage(organizationId, id)).for("update") : [];
  if (!row) throw noSuchPage();
  return row;
}

/** The services that a page shows, in its order. The page must exist. */
export async function listAssignedServices(queries: Queries, pageId: string): Promise<AssignedService[]> {
  return queries
    .select({ service_id: services.id, name: services.name, status: services.status, display_order: statusPageServices.displayOrder })
    .from(statusPageServices)
    .innerJoin(services, eq(services.id, statusPageServices.serviceId))
    .where(eq(statusPageServices.statusPageId, pageId))
    .orderBy(asc(statusPageServices.displayOrder), asc(services.id));
}

export function noSuchPage(): Failure {
  return new Failure("NOT_FOUND", "No such status page.");
}

export function ownPage(organizationId: string, id: string) {
  return and(eq(statusPages.organizationId, organizationId), eq(statusPages.id, id));
}
