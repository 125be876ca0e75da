import { eq } from "drizzle-orm";
import { Failure } from "../../platform/failures.ts";
import { inTransaction, type Database } from "../../platform/postgres/database.ts";
import { statusPages } from "../../schemas/tables/all.ts";
import type { Actor } from "../actor.ts";
import { recordAudit } from "../audit/record.ts";
import { lockOrganization } from "../organizations/lock.ts";
import { auditedStatusPage } from "./columns.ts";
import { lockStatusPage } from "./read.ts";

/**
 * Deletes a page with its designs; the services that it showed stay. The organization is locked, so of any number of
 * deletes at once one page is left. NOT_FOUND, ONLY_PAGE, DEFAULT_PAGE.
 */
export async function deleteStatusPage(database: Database, actor: Actor, id: string): Promise<void> {
  await inTransaction(database, async (tx) => {
    await lockOrganization(tx, actor.organizationId);
    const found = await lockStatusPage(tx, actor.organizationId, id);
    const pages = await tx.$count(statusPages, eq(statusPages.organizationId, actor.organizationId));
    if (pages === 1) throw new Failure("ONLY_PAGE", "The only page cannot be deleted.", { fix: "Make another page and make it the default first." });
    if (found.isDefault) throw new Failure("DEFAULT_PAGE", "The default page cannot be deleted.", { fix: "Make another page the default first: PATCH it with is_default true." });
    await tx.delete(statusPages).where(eq(statusPages.id, found.id));
    await recordAudit(tx, actor, { action: "status_page.deleted", resourceType: "status_page", resourceId: found.id, before: auditedStatusPage(found), after: null });
  });
}
