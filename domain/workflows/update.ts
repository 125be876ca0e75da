import { eq } from "drizzle-orm";
import { inTransaction, type Database } from "../../platform/postgres/database.ts";
import type { UpdateWorkflow, Workflow } from "../../schemas/api/workflows.ts";
import { workflows } from "../../schemas/tables/all.ts";
import type { Actor } from "../actor.ts";
import { readHeldRights } from "../api-keys/held-rights.ts";
import { recordAudit } from "../audit/record.ts";
import { checkReferences } from "./check-references.ts";
import { checkSteps, type UrlRules } from "./check-steps.ts";
import { checkTrigger } from "./check-trigger.ts";
import { unmaskHeaders } from "./mask-headers.ts";
import { nextRunAt } from "./runs/start.ts";
import { auditedWorkflow, lockWorkflow, saverOf, showWorkflow, stepsOf } from "./read.ts";
import { requireScopes } from "./required-scopes.ts";

/**
 * Changes a workflow; what is left out stays, `steps` are replaced whole. From now on it runs with what the actor may do. NOT_FOUND; INVALID_REQUEST for its
 * trigger or steps, with the place; INSUFFICIENT_SCOPE for what the actor may not do itself.
 */
export async function updateWorkflow({ database, config }: { database: Database; config: UrlRules }, actor: Actor, id: string, patch: UpdateWorkflow, at: Date): Promise<Workflow> {
  return inTransaction(database, async (tx) => {
    const found = await lockWorkflow(tx, actor.organizationId, id);
    const trigger = patch.trigger && checkTrigger(patch.trigger);
    const steps = patch.steps && unmaskHeaders(patch.steps, stepsOf(found));
    if (steps) {
      checkSteps(steps, config);
      await checkReferences(tx, actor.organizationId, steps);
    }
    // Who saves it last answers for all of it: it runs as theirs from now on.
    requireScopes((await readHeldRights(tx, actor, at)).scopes, trigger ?? (found.trigger as Workflow["trigger"]), steps ?? stepsOf(found));
    const scheduled = trigger !== undefined || (patch.enabled ?? found.enabled) !== found.enabled;
    const values = {
      ...(scheduled && { nextRunAt: nextRunAt(trigger ?? (found.trigger as Workflow["trigger"]), patch.enabled ?? found.enabled, at) }),
      ...(patch.enabled && { disabledReason: null }),
      name: patch.name,
      enabled: patch.enabled,
      trigger,
      steps: steps as unknown as Record<string, unknown>[] | undefined,
      savedBy: saverOf(actor),
      updatedAt: at > found.updatedAt ? at : found.updatedAt,
    };
    const [row] = await tx.update(workflows).set(values).where(eq(workflows.id, found.id)).returning();
    await recordAudit(tx, actor, { action: "workflow.updated", resourceType: "workflow", resourceId: found.id, before: { ...auditedWorkflow(found) }, after: { ...auditedWorkflow(row!) } });
    return showWorkflow(row!);
  });
}
