import { Failure } from "../../platform/failures.ts";
import { inTransaction, type Database, type Queries } from "../../platform/postgres/database.ts";
import type { DesignDraft, DesignValidation, SavedDraft } from "../../schemas/api/designs.ts";
import type { Actor } from "../actor.ts";
import { composeDraft, designOf } from "./compose.ts";
import { findIssues, requireValid } from "./find-issues.ts";
import { findPageWithVersions, findVersion, lockPageWithVersions, showVersion } from "./read.ts";
import { requireTemplatePlan } from "./require-template-plan.ts";
import { writeDraft } from "./write-draft.ts";

/**
 * Makes or changes a page's draft; what is left out is kept. NOT_FOUND for the page; PLAN_RESTRICTED for a template that
 * the plan does not allow, kept ones too; INVALID_DESIGN with its issues; INVALID_REQUEST for the base.
 */
export async function saveDraft(database: Database, actor: Actor, pageId: string, draft: DesignDraft, at: Date): Promise<SavedDraft> {
  return inTransaction(database, async (tx) => {
    const found = await lockPageWithVersions(tx, actor.organizationId, pageId);
    await requireOwnBase(tx, found.page.id, draft.base_version_id);
    const content = composeDraft(draft, found);
    await requireTemplatePlan(tx, actor.organizationId, content);
    const warnings = requireValid(designOf(content));
    return { draft_version: showVersion(await writeDraft(tx, actor, found, content, "draft_saved", at)), warnings };
  });
}

/** What saving `draft` would say, or what is wrong with the stored draft when none is given. NOT_FOUND for the page and for a missing draft. */
export async function validateDraft(database: Database, organizationId: string, pageId: string, draft: DesignDraft | undefined): Promise<DesignValidation> {
  const found = await findPageWithVersions(database, organizationId, pageId);
  if (!draft && !found.draft) throw noDraft();
  await requireOwnBase(database, found.page.id, draft?.base_version_id);
  const { errors, warnings } = findIssues(designOf(composeDraft(draft ?? {}, found)));
  return { valid: errors.length === 0, errors, warnings };
}

export function noDraft(): Failure {
  return new Failure("NOT_FOUND", "The page has no draft.", { fix: "PUT …/design/draft makes one." });
}

async function requireOwnBase(queries: Queries, pageId: string, baseVersionId: string | null | undefined): Promise<void> {
  if (baseVersionId === undefined || baseVersionId === null) return;
  await findVersion(queries, pageId, baseVersionId).catch((error: unknown) => {
    if (!(error instanceof Failure)) throw error;
    throw new Failure("INVALID_REQUEST", "base_version_id is no version of this page.", { path: "/base_version_id", fix: "GET …/design/versions lists the page's versions." });
  });
}
