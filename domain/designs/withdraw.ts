import { eq } from "drizzle-orm";
import { Failure } from "../../platform/failures.ts";
import { inTransaction, type Database } from "../../platform/postgres/database.ts";
import { designVersions, statusPages } from "../../schemas/tables/all.ts";
import type { Actor } from "../actor.ts";
import { recordAudit } from "../audit/record.ts";
import { lockPageWithVersions, showVersion } from "./read.ts";

/**
 * Takes a page's published design away: the version is archived, from where it can be restored, and the page follows its own fields
 * again, with every section. The draft stays. NOT_FOUND for the page, and when nothing is published.
 */
export async function withdrawDesign(database: Database, actor: Actor, pageId: string, at: Date): Promise<void> {
  await inTransaction(database, async (tx) => {
    const { page, published } = await lockPageWithVersions(tx, actor.organizationId, pageId);
    if (!published) throw new Failure("NOT_FOUND", "No design of this page is published.");
    const [archived] = await tx.update(designVersions).set({ state: "archived" }).where(eq(designVersions.id, published.id)).returning();
    await tx.update(statusPages).set({ currentVersionId: null, updatedAt: at > page.updatedAt ? at : page.updatedAt }).where(eq(statusPages.id, page.id));
    await recordAudit(tx, actor, {
      action: "design.withdrawn",
      resourceType: "design_version",
      resourceId: published.id,
      before: { ...showVersion(published), current_version_id: published.id },
      after: { ...showVersion(archived!), current_version_id: null },
    });
  });
}
