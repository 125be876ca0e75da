import { and, eq, getTableColumns } from "drizzle-orm";
import { alias } from "drizzle-orm/pg-core";
import type { Queries } from "../../platform/postgres/database.ts";
import { designVersions, organizations, statusPages } from "../../schemas/tables/all.ts";
import type { VersionRow } from "../designs/compose.ts";
import type { StatusPageRow } from "./columns.ts";

/** How visitors name a page: by its slug, or by the host name that leads to it. */
export type PageName = { slug: string } | { host: string };

/** What is decided about a page by its owner: who may see it and what it looks like. */
export interface PageSettings {
  page: StatusPageRow;
  published: VersionRow | null;
  /** For those who follow a preview's link. */
  draft: VersionRow | null;
  /** IANA name; of its organization. */
  timezone: string;
}

/** The page of a name, in one statement; null when there is none. Of all organizations: a visitor names no organization. */
export async function findPage(queries: Queries, name: PageName): Promise<PageSettings | null> {
  const published = alias(designVersions, "published");
  const draft = alias(designVersions, "draft");
  const [row] = await queries
    .select({ page: getTableColumns(statusPages), published: getTableColumns(published), draft: getTableColumns(draft), timezone: organizations.timezone })
    .from(statusPages)
    .innerJoin(organizations, eq(organizations.id, statusPages.organizationId))
    .leftJoin(published, eq(published.id, statusPages.currentVersionId))
    .leftJoin(draft, eq(draft.id, statusPages.draftVersionId))
    .where("slug" in name ? eq(statusPages.slug, name.slug) : and(eq(statusPages.customDomain, name.host), eq(statusPages.customDomainStatus, "verified")));
  return row ?? null;
}
