import { newId } from "../../platform/ids.ts";
import { inTransaction, type Database } from "../../platform/postgres/database.ts";
import type { CreateWorkflow, Workflow } from "../../schemas/api/workflows.ts";
import { workflows } from "../../schemas/tables/all.ts";
import type { Actor } from "../actor.ts";
import { readHeldRights } from "../api-keys/held-rights.ts";
import { recordAudit } from "../audit/record.ts";
import { requireRoom } from "../organizations/require-room.ts";
import { checkReferences } from "./check-references.ts";
import { checkSteps, type UrlRules } from "./check-steps.ts";
import { checkTrigger } from "./check-trigger.ts";
import { unmaskHeaders } from "./mask-headers.ts";
import { auditedWorkflow, saverOf, showWorkflow } from "./read.ts";
import { requireScopes } from "./required-scopes.ts";
import { nextRunAt } from "./runs/start.ts";

/** Makes a workflow. INVALID_REQUEST for its trigger or steps, with the place; INSUFFICIENT_SCOPE for what its maker may not do; PLAN_LIMIT. */
export async function createWorkflow({ database, config }: { database: Database; config: UrlRules }, actor: Actor, { name, enabled, ...input }: CreateWorkflow, at: Date): Promise<Workflow> {
  const { organizationId } = actor;
  const trigger = checkTrigger(input.trigger);
  // Nothing is stored that a masked value could stand for.
  const steps = unmaskHeaders(input.steps, []);
  checkSteps(steps, config);
  return inTransaction(database, async (tx) => {
    requireScopes((await readHeldRights(tx, actor, at)).scopes, trigger, steps);
    await requireRoom(tx, organizationId, "workflows");
    await checkReferences(tx, organizationId, steps);
    const values = { id: newId(), organizationId, name, enabled, trigger, steps: steps as unknown as Record<string, unknown>[], savedBy: saverOf(actor), nextRunAt: nextRunAt(trigger, enabled, at), createdAt: at, updatedAt: at };
    const [row] = await tx.insert(workflows).values(values).returning();
    await recordAudit(tx, actor, { action: "workflow.created", resourceType: "workflow", resourceId: row!.id, before: null, after: { ...auditedWorkflow(row!) } });
    return showWorkflow(row!);
  });
}
