import { and, desc, eq, getTableColumns, lt } from "drizzle-orm";
import { alias } from "drizzle-orm/pg-core";
import { Failure } from "../../platform/failures.ts";
import { isUuid } from "../../platform/ids.ts";
import type { Queries, Transaction } from "../../platform/postgres/database.ts";
import type { CompactDesignVersion, DesignVersion, DesignVersionList, PageDesign } from "../../schemas/api/designs.ts";
import { designVersions, statusPages } from "../../schemas/tables/all.ts";
import { lockStatusPage, noSuchPage, ownPage } from "../status-pages/read.ts";
import { designOf, type PageRow, type VersionRow } from "./compose.ts";

/** A page's design: its row with both versions. */
export interface PageWithVersions {
  page: PageRow;
  draft: VersionRow | null;
  published: VersionRow | null;
}

/** In one statement, so that nobody sees a pointer without its version while another publishes. NOT_FOUND for the page. */
export async function findPageWithVersions(queries: Queries, organizationId: string, pageId: string): Promise<PageWithVersions> {
  const draft = alias(designVersions, "draft");
  const published = alias(designVersions, "published");
  const [row] = isUuid(pageId)
    ? await queries
        .select({ page: getTableColumns(statusPages), draft: getTableColumns(draft), published: getTableColumns(published) })
        .from(statusPages)
        .leftJoin(draft, eq(draft.id, statusPages.draftVersionId))
        .leftJoin(published, eq(published.id, statusPages.currentVersionId))
        .where(ownPage(organizationId, pageId))
    : [];
  if (!row) throw noSuchPage();
  return row;
}

/** The same, with the page locked until the transaction ends: whatever changes a page's designs does so one after the other. */
export async function lockPageWithVersions(tx: Transaction, organizationId: string, pageId: string): Promise<PageWithVersions> {
  const { id } = await lockStatusPage(tx, organizationId, pageId);
  return findPageWithVersions(tx, organizationId, id);
}

/** What a page looks like now and what is prepared for it. NOT_FOUND for the page. */
export async function getPageDesign(queries: Queries, organizationId: string, pageId: string): Promise<PageDesign> {
  const { page, draft, published } = await findPageWithVersions(queries, organizationId, pageId);
  const [currentVersion, draftVersion] = [published && showVersion(published), draft && showVersion(draft)];
  return {
    status_page_id: page.id,
    current_version_id: page.currentVersionId,
    draft_version_id: page.draftVersionId,
    current_version: currentVersion,
    draft_version: draftVersion,
    effective_design: currentVersion ?? draftVersion,
  };
}

/** Newest first, below `cursor`. The page's pointers come from the same statement as the versions. NOT_FOUND for the page. */
export async function listDesignVersions(queries: Queries, organizationId: string, pageId: string, { limit, cursor }: { limit: number; cursor?: number | undefined }): Promise<DesignVersionList> {
  const { themeTokens: _tokens, layout: _layout, template: _template, ...compact } = getTableColumns(designVersions);
  const below = cursor === undefined ? undefined : lt(designVersions.versionNumber, cursor);
  const rows = isUuid(pageId)
    ? await queries
        .select({ currentVersionId: statusPages.currentVersionId, draftVersionId: statusPages.draftVersionId, version: compact })
        .from(statusPages)
        .leftJoin(designVersions, and(eq(designVersions.statusPageId, statusPages.id), below))
        .where(ownPage(organizationId, pageId))
        .orderBy(desc(designVersions.versionNumber))
        .limit(limit + 1)
    : [];
  const [first] = rows;
  if (!first) throw noSuchPage();
  const versions = rows.flatMap(({ version }) => (version ? [showCompactVersion(version)] : [])).slice(0, limit);
  return { versions, next_cursor: rows.length > limit ? versions.at(-1)!.version_number : null, current_version_id: first.currentVersionId, draft_version_id: first.draftVersionId };
}

/** NOT_FOUND for the page, and for a version that is unknown, malformed or of another page. */
export async function getDesignVersion(queries: Queries, organizationId: string, pageId: string, versionId: string): Promise<DesignVersion> {
  const { page } = await findPageWithVersions(queries, organizationId, pageId);
  return showVersion(await findVersion(queries, page.id, versionId));
}

/** One version of a page that is known to be the caller's. NOT_FOUND. */
export async function findVersion(queries: Queries, ownPageId: string, versionId: string): Promise<VersionRow> {
  const [row] = isUuid(versionId)
    ? await queries.select().from(designVersions).where(and(eq(designVersions.statusPageId, ownPageId), eq(designVersions.id, versionId)))
    : [];
  if (!row) throw new Failure("NOT_FOUND", "No such design version.");
  return row;
}

export function showVersion(row: VersionRow): DesignVersion {
  return { ...showCompactVersion(row), ...designOf(row) };
}

function showCompactVersion(row: Omit<VersionRow, "themeTokens" | "layout" | "template">): CompactDesignVersion {
  return {
    id: row.id,
    status_page_id: row.statusPageId,
    version_number: row.versionNumber,
    state: row.state,
    base_version_id: row.baseVersionId,
    template_mode: row.templateMode,
    summary: row.summary,
    created_by: row.createdBy,
    created_at: row.createdAt.toISOString(),
    published_at: row.publishedAt?.toISOString() ?? null,
  };
}
