import { and, desc, eq } from "drizzle-orm";
import { Failure } from "../../platform/failures.ts";
import { isUuid } from "../../platform/ids.ts";
import type { Queries } from "../../platform/postgres/database.ts";
import type { WorkflowRun, WorkflowRunListQuery } from "../../schemas/api/workflows.ts";
import { workflowRuns, workflows } from "../../schemas/tables/all.ts";
import { getWorkflow } from "./read.ts";
import { maskSecrets } from "./runs/redact.ts";

/** The runs of a workflow, newest first. NOT_FOUND for a workflow that is unknown, malformed or of another organization. */
export async function listWorkflowRuns(queries: Queries, organizationId: string, workflowId: string, { limit, offset }: WorkflowRunListQuery): Promise<WorkflowRun[]> {
  const { id } = await getWorkflow(queries, organizationId, workflowId);
  const rows = await queries
    .select()
    .from(workflowRuns)
    .where(eq(workflowRuns.workflowId, id))
    .orderBy(desc(workflowRuns.createdAt), desc(workflowRuns.id))
    .limit(limit)
    .offset(offset);
  return rows.map(showRun);
}

/** NOT_FOUND for ids that are unknown, malformed or of another organization's workflow. */
export async function getWorkflowRun(queries: Queries, organizationId: string, id: string): Promise<WorkflowRun> {
  const [found] = isUuid(id)
    ? await queries
        .select({ run: workflowRuns })
        .from(workflowRuns)
        .innerJoin(workflows, eq(workflows.id, workflowRuns.workflowId))
        .where(and(eq(workflows.organizationId, organizationId), eq(workflowRuns.id, id)))
    : [];
  if (!found) throw new Failure("NOT_FOUND", "No such workflow run.");
  return showRun(found.run);
}

/** As the API shows it: without what a caller sent as a secret. */
function showRun(row: typeof workflowRuns.$inferSelect): WorkflowRun {
  const ended = row.finishedAt !== null;
  return {
    id: row.id,
    workflow_id: row.workflowId,
    trigger: row.trigger,
    status: row.status,
    inputs: maskSecrets(row.inputs) as WorkflowRun["inputs"],
    event: row.event && { id: row.event.id, type: row.event.type },
    next_step: ended || row.position === null ? null : `/steps${row.position}`,
    next_at: row.status === "waiting" ? row.dueAt.toISOString() : null,
    trace: row.trace as unknown as WorkflowRun["trace"],
    created_at: row.createdAt.toISOString(),
    finished_at: row.finishedAt?.toISOString() ?? null,
  };
}
