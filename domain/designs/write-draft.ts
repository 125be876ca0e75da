import { and, eq, lte, max } from "drizzle-orm";
import { newId } from "../../platform/ids.ts";
import type { Transaction } from "../../platform/postgres/database.ts";
import { DESIGN_VERSIONS_KEPT } from "../../schemas/plans.ts";
import { designVersions, statusPages } from "../../schemas/tables/all.ts";
import type { Actor } from "../actor.ts";
import { recordAudit } from "../audit/record.ts";
import type { Content, VersionRow } from "./compose.ts";
import { showVersion, type PageWithVersions } from "./read.ts";

/**
 * Gives the page's draft this content, making the draft when there is none. The page must be locked: the number of a new
 * version is one more than the highest. A draft keeps who made it and when. Of a page's archived versions the newest are kept.
 */
export async function writeDraft(tx: Transaction, actor: Actor, { page, draft }: PageWithVersions, content: Content, action: "draft_saved" | "restored", at: Date): Promise<VersionRow> {
  const row = draft ? await change(tx, draft.id, content) : await create(tx, actor, page.id, content, at);
  await recordAudit(tx, actor, {
    action: `design.${action}`,
    resourceType: "design_version",
    resourceId: row.id,
    before: draft && { ...showVersion(draft) },
    after: { ...showVersion(row) },
  });
  return row;
}

async function change(tx: Transaction, draftId: string, content: Content): Promise<VersionRow> {
  const [row] = await tx.update(designVersions).set(content).where(eq(designVersions.id, draftId)).returning();
  return row!;
}

async function create(tx: Transaction, actor: Actor, statusPageId: string, content: Content, at: Date): Promise<VersionRow> {
  const [highest] = await tx.select({ number: max(designVersions.versionNumber) }).from(designVersions).where(eq(designVersions.statusPageId, statusPageId));
  const version = { ...content, id: newId(), organizationId: actor.organizationId, statusPageId, versionNumber: (highest?.number ?? 0) + 1, state: "draft" as const, createdBy: `${actor.type}:${actor.name}`, createdAt: at };
  const [row] = await tx.insert(designVersions).values(version).returning();
  await tx.update(statusPages).set({ draftVersionId: row!.id }).where(eq(statusPages.id, statusPageId));
  const old = and(eq(designVersions.statusPageId, statusPageId), eq(designVersions.state, "archived"), lte(designVersions.versionNumber, row!.versionNumber - DESIGN_VERSIONS_KEPT));
  await tx.delete(designVersions).where(old);
  return row!;
}
