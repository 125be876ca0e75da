import { eq } from "drizzle-orm";
import { Failure } from "../../platform/failures.ts";
import { inTransaction, type Database, type Transaction } from "../../platform/postgres/database.ts";
import type { PublishedDesign } from "../../schemas/api/designs.ts";
import { designVersions, statusPages } from "../../schemas/tables/all.ts";
import type { Actor } from "../actor.ts";
import { recordAudit } from "../audit/record.ts";
import { designOf, type VersionRow } from "./compose.ts";
import { requireValid } from "./find-issues.ts";
import { lockPageWithVersions, showVersion, type PageWithVersions } from "./read.ts";
import { requireTemplatePlan } from "./require-template-plan.ts";
import { noDraft } from "./save-draft.ts";

/**
 * Publishes a page's draft if it is still the one that is meant: what was published is archived, and the page takes over
 * the design's colors, font and template, all at once. NOT_FOUND for the page and for a missing draft, whatever
 * id is named; DRAFT_MISMATCH for another draft; PLAN_RESTRICTED; INVALID_DESIGN with its issues.
 */
export async function publishDesign(database: Database, actor: Actor, pageId: string, expectedDraftId: string, at: Date): Promise<PublishedDesign> {
  return inTransaction(database, async (tx) => {
    const found = await lockPageWithVersions(tx, actor.organizationId, pageId);
    const draft = requireExpectedDraft(found, expectedDraftId.toLowerCase());
    await requireTemplatePlan(tx, actor.organizationId, draft);
    const warnings = requireValid(designOf(draft));
    const published = await moveToPublished(tx, found, draft, at);
    await recordAudit(tx, actor, {
      action: "design.published",
      resourceType: "design_version",
      resourceId: published.id,
      before: { ...showVersion(draft), current_version_id: found.page.currentVersionId },
      after: { ...showVersion(published), current_version_id: published.id },
    });
    return { success: true, status_page_id: found.page.id, current_version_id: published.id, warnings };
  });
}

function requireExpectedDraft({ draft }: PageWithVersions, expectedId: string): VersionRow {
  if (!draft) throw noDraft();
  if (draft.id === expectedId) return draft;
  throw new Failure("DRAFT_MISMATCH", "The page's draft is another one.", { path: "/expected_draft_version_id", fix: `The draft is ${draft.id} now; look at it before you publish it.` });
}

async function moveToPublished(tx: Transaction, { page }: PageWithVersions, draft: VersionRow, at: Date): Promise<VersionRow> {
  // First of all: only one version of a page may be published.
  if (page.currentVersionId !== null) await tx.update(designVersions).set({ state: "archived" }).where(eq(designVersions.id, page.currentVersionId));
  const [published] = await tx.update(designVersions).set({ state: "published", publishedAt: at }).where(eq(designVersions.id, draft.id)).returning();
  const { brand, font } = draft.themeTokens;
  await tx
    .update(statusPages)
    .set({
      currentVersionId: draft.id,
      draftVersionId: null,
      primaryColor: brand.primary,
      secondaryColor: brand.secondary,
      fontFamily: font.family as typeof page.fontFamily,
      customTemplate: draft.templateMode === "custom" ? draft.template : null,
      updatedAt: at > page.updatedAt ? at : page.updatedAt,
    })
    .where(eq(statusPages.id, page.id));
  return published!;
}
