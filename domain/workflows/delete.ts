import { eq } from "drizzle-orm";
import { inTransaction, type Database } from "../../platform/postgres/database.ts";
import { workflows } from "../../schemas/tables/all.ts";
import type { Actor } from "../actor.ts";
import { recordAudit } from "../audit/record.ts";
import { auditedWorkflow, lockWorkflow } from "./read.ts";

/** Deletes a workflow with its runs, also those that have not ended. NOT_FOUND. */
export async function deleteWorkflow(database: Database, actor: Actor, id: string): Promise<void> {
  await inTransaction(database, async (tx) => {
    const found = await lockWorkflow(tx, actor.organizationId, id);
    await tx.delete(workflows).where(eq(workflows.id, found.id));
    await recordAudit(tx, actor, { action: "workflow.deleted", resourceType: "workflow", resourceId: found.id, before: { ...auditedWorkflow(found) }, after: null });
  });
}
