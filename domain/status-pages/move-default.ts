import { and, eq } from "drizzle-orm";
import type { Transaction } from "../../platform/postgres/database.ts";
import { statusPages } from "../../schemas/tables/all.ts";
import type { Actor } from "../actor.ts";
import { recordAudit } from "../audit/record.ts";
import { auditedStatusPage } from "./columns.ts";

/**
 * Takes the default mark from the page that has it, for another to get it in the same transaction. The caller has locked
 * the organization, so nobody sees two default pages or none.
 */
export async function releaseDefault(tx: Transaction, actor: Actor, at: Date): Promise<void> {
  const [row] = await tx
    .update(statusPages)
    .set({ isDefault: false, updatedAt: at })
    .where(and(eq(statusPages.organizationId, actor.organizationId), eq(statusPages.isDefault, true)))
    .returning();
  if (!row) return;
  const after = auditedStatusPage(row);
  await recordAudit(tx, actor, { action: "status_page.updated", resourceType: "status_page", resourceId: row.id, before: { ...after, is_default: true }, after });
}
