import { and, eq, sql } from "drizzle-orm";
import type { Transaction } from "../../platform/postgres/database.ts";
import { workflows } from "../../schemas/tables/all.ts";
import { systemActor } from "../actor.ts";
import { recordAudit } from "../audit/record.ts";
import { tellOwner } from "../organizations/tell-owner.ts";
import { auditedWorkflow } from "./read.ts";

/**
 * Disables the workflows that a key saved last, because it does not work any more, and tells the owner. `reason` is a sentence about the key.
 * Workflows that are disabled already, or that somebody else has saved since, stay as they are.
 */
export async function disableWorkflowsOf(tx: Transaction, { organizationId, keyId }: { organizationId: string; keyId: string }, reason: string, at: Date): Promise<void> {
  const theirs = and(eq(workflows.organizationId, organizationId), eq(workflows.enabled, true), sql`${workflows.savedBy} ->> 'id' = ${keyId}`);
  const found = await tx.select().from(workflows).where(theirs).orderBy(workflows.id).for("no key update");
  for (const before of found) {
    const [row] = await tx.update(workflows).set({ enabled: false, disabledReason: reason, nextRunAt: null, updatedAt: at }).where(eq(workflows.id, before.id)).returning();
    await recordAudit(tx, systemActor(organizationId, "Workflows"), { action: "workflow.disabled", resourceType: "workflow", resourceId: before.id, before: { ...auditedWorkflow(before) }, after: { ...auditedWorkflow(row!) } });
  }
  if (found.length > 0) await tellOwner(tx, { organizationId, ...describe(found, reason), at });
}

function describe(found: readonly { id: string; name: string }[], reason: string): { subject: string; text: string } {
  const many = found.length > 1;
  return {
    subject: many ? `${found.length} workflows were disabled` : `Workflow "${found[0]!.name}" was disabled`,
    text: [
      `A workflow runs with what the key may do that saved it last. ${reason} So ${many ? "these are" : "this one is"} disabled:`,
      ...found.map(({ id, name }) => `- ${name} (${id})`),
      'To go on, PATCH /api/v1/workflows/{id} with {"enabled": true}, with a key that may do what its steps do.',
    ].join("\n"),
  };
}
