import { Failure } from "../../platform/failures.ts";
import { inTransaction, type Database } from "../../platform/postgres/database.ts";
import type { TriggerWorkflow } from "../../schemas/api/workflows.ts";
import type { Actor } from "../actor.ts";
import { recordAudit } from "../audit/record.ts";
import { lockWorkflow } from "./read.ts";
import { countUnfinished, MOST_UNFINISHED, queueRun } from "./runs/start.ts";

const MOST_INPUT_BYTES = 65_536;

/** Queues a run of a workflow by hand, whatever its trigger. NOT_FOUND; CONFLICT when it is disabled or 1,000 of its runs have not ended; INVALID_REQUEST for inputs that are too large. */
export async function triggerWorkflow(database: Database, actor: Actor, id: string, { inputs }: TriggerWorkflow, at: Date): Promise<{ run_id: string; status: "queued" }> {
  return inTransaction(database, async (tx) => {
    // Locked, so that no run is queued after the workflow was disabled or deleted.
    const workflow = await lockWorkflow(tx, actor.organizationId, id);
    if (Buffer.byteLength(JSON.stringify(inputs)) > MOST_INPUT_BYTES) {
      throw new Failure("INVALID_REQUEST", `inputs is larger than ${MOST_INPUT_BYTES / 1024} KiB.`, { path: "/inputs", fix: "Send what the steps need, or an address to get it from." });
    }
    if (!workflow.enabled) throw new Failure("CONFLICT", `The workflow is disabled.${workflow.disabledReason === null ? "" : ` ${workflow.disabledReason}`}`, { fix: "PATCH it with enabled: true first." });
    if ((await countUnfinished(tx, workflow.id)) >= MOST_UNFINISHED) throw new Failure("CONFLICT", `${MOST_UNFINISHED.toLocaleString("en")} runs of this workflow have not ended yet.`, { fix: "Wait until some have, or look why they take so long." });
    const runId = await queueRun(tx, workflow, { trigger: "manual", inputs, at });
    // The inputs stay with the run: they are whatever a caller sends, and may be secrets.
    await recordAudit(tx, actor, { action: "workflow.triggered", resourceType: "workflow", resourceId: workflow.id, before: null, after: { run_id: runId } });
    return { run_id: runId, status: "queued" };
  });
}
