import { inTransaction, type Database } from "../../platform/postgres/database.ts";
import type { DesignVersion } from "../../schemas/api/designs.ts";
import type { Actor } from "../actor.ts";
import { findVersion, lockPageWithVersions, showVersion } from "./read.ts";
import { requireTemplatePlan } from "./require-template-plan.ts";
import { writeDraft } from "./write-draft.ts";

/**
 * Copies a version into the page's draft, whatever stands there, with the version as its base; restoring the draft itself
 * changes nothing. NOT_FOUND for the page and the version; PLAN_RESTRICTED. Its issues are judged when it is published.
 */
export async function restoreVersion(database: Database, actor: Actor, pageId: string, versionId: string, at: Date): Promise<DesignVersion> {
  return inTransaction(database, async (tx) => {
    const found = await lockPageWithVersions(tx, actor.organizationId, pageId);
    const version = await findVersion(tx, found.page.id, versionId);
    if (version.id === found.draft?.id) return showVersion(version);
    await requireTemplatePlan(tx, actor.organizationId, version);
    const { themeTokens, layout, template, templateMode, summary } = version;
    return showVersion(await writeDraft(tx, actor, found, { themeTokens, layout, template, templateMode, summary, baseVersionId: version.id }, "restored", at));
  });
}
