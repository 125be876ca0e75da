import { eq } from "drizzle-orm";
import type { Database } from "../../platform/postgres/database.ts";
import { statusPages } from "../../schemas/tables/all.ts";
import type { StatusPageRow } from "../status-pages/columns.ts";
import { listAssignedServices } from "../status-pages/read.ts";
import { maySee, type FollowedLink } from "../status-pages/read-public-page.ts";

/** A page that takes subscribers, and what they can choose from. */
export interface SubscribablePage {
  page: StatusPageRow;
  services: { id: string; name: string }[];
}

/** The page of a slug; null when there is none that this visitor may see, or it offers no subscriptions. */
export async function findSubscribablePage(database: Database, slug: string, link?: FollowedLink): Promise<SubscribablePage | null> {
  const [page] = await database.select().from(statusPages).where(eq(statusPages.slug, slug));
  return page && page.showSubscribeForm && maySee(page, link) ? { page, services: await listChoices(database, page.id) } : null;
}

/** The services that a page shows, in its order. */
export async function listChoices(database: Database, pageId: string): Promise<SubscribablePage["services"]> {
  const shown = await listAssignedServices(database, pageId);
  return shown.map(({ service_id: id, name }) => ({ id, name }));
}
