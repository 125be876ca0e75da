import { desc, eq, or, type SQL } from "drizzle-orm";
import { isUuid } from "../../platform/ids.ts";
import type { Database } from "../../platform/postgres/database.ts";
import { statusPages } from "../../schemas/tables/all.ts";
import type { StatusPageRow } from "../status-pages/columns.ts";
import { judgeVisitor, type Visitor } from "../status-pages/judge-visitor.ts";
import { listAssignedServices } from "../status-pages/read.ts";

/** A page that takes subscribers, and what they can choose from. */
export interface SubscribablePage {
  page: StatusPageRow;
  services: { id: string; name: string }[];
}

/** Who asks, known once it is known for which page: its pass has its name. */
export type VisitorOfPage = (page: StatusPageRow | null) => Visitor;

/** The page of a slug, or of an id as links to confirm have it; null when there is none that is shown to this visitor, or it offers no subscriptions. */
export async function findSubscribablePage(database: Database, slug: string, visitorOf: VisitorOfPage): Promise<SubscribablePage | null> {
  // Should a slug be another page's id, the slug counts.
  const [page = null] = await database.select().from(statusPages).where(isNamed(slug)).orderBy(desc(eq(statusPages.slug, slug))).limit(1);
  const shown = judgeVisitor(page, visitorOf(page)).kind === "shown";
  return page && shown && page.showSubscribeForm ? { page, services: await listChoices(database, page.id) } : null;
}

/** Matches the page with this slug, and the one with this id. */
export function isNamed(name: string): SQL | undefined {
  return isUuid(name) ? or(eq(statusPages.slug, name), eq(statusPages.id, name)) : eq(statusPages.slug, name);
}

/** The services that a page shows, in its order. */
export async function listChoices(database: Database, pageId: string): Promise<SubscribablePage["services"]> {
  const shown = await listAssignedServices(database, pageId);
  return shown.map(({ service_id: id, name }) => ({ id, name }));
}
