import { and, eq, getTableColumns, or, sql } from "drizzle-orm";
import { alias } from "drizzle-orm/pg-core";
import { makeLoadTogether } from "../../platform/load-together.ts";
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

/** Finds the page of a name; null when there is none. */
export type FindPage = (name: PageName) => Promise<PageSettings | null>;

/**
 * Finds pages of all organizations, because a visitor names none. What is asked for within some ms is one statement, so that
 * many names that lead nowhere cost little; what is found was read after it was asked for. Rejects with TooManyLoads past a thousand names.
 */
export function makeFindPage(queries: Queries): FindPage {
  const lookUps = makeLoadTogether<PageSettings>({ load: (keys) => findPages(queries, keys), fresh: true });
  return (name) => lookUps.load("slug" in name ? `slug ${name.slug}` : `host ${name.host}`);
}

async function findPages(queries: Queries, keys: readonly string[]): Promise<ReadonlyMap<string, PageSettings>> {
  const published = alias(designVersions, "published");
  const draft = alias(designVersions, "draft");
  const after = (kind: string) => keys.filter((key) => key.startsWith(kind)).map((key) => key.slice(kind.length));
  // Written out, so that the planner knows of the index that holds verified names only.
  const isVerified = sql`${statusPages.customDomainStatus} = 'verified'`;
  const rows = await queries
    .select({ page: getTableColumns(statusPages), published: getTableColumns(published), draft: getTableColumns(draft), timezone: organizations.timezone })
    .from(statusPages)
    .innerJoin(organizations, eq(organizations.id, statusPages.organizationId))
    .leftJoin(published, eq(published.id, statusPages.currentVersionId))
    .leftJoin(draft, eq(draft.id, statusPages.draftVersionId))
    .where(or(sql`${statusPages.slug} = any(${sql.param(after("slug "))})`, and(sql`${statusPages.customDomain} = any(${sql.param(after("host "))})`, isVerified)));
  const found = new Map(rows.map((settings) => [`slug ${settings.page.slug}`, settings]));
  for (const settings of rows) {
    // A name that is not proven may be claimed by several pages.
    if (settings.page.customDomainStatus === "verified") found.set(`host ${settings.page.customDomain}`, settings);
  }
  return found;
}
