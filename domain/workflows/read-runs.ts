import { and, desc, eq } from "drizzle-orm";
import { Failure } from "../../platform/failures.ts";
import { isUuid } from "../../platform/ids.ts";
import type { Queries } from "../../platform/postgres/database.ts";
import type { WorkflowRun, WorkflowRunListQuery } from "../../schemas/api/workflows.ts";
import { workflowRuns, workflows } from "../../schemas/tables/all.ts";
import { getWorkflow } from "./read.ts";

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

function showRun(row: typeof workflowRuns.$inferSelect): WorkflowRun {
  return {
    id: row.id,
    workflow_id: row.workflowId,
    status: row.status,
    inputs: row.inputs,
    trace: row.trace,
    created_at: row.createdAt.toISOString(),
    finished_at: row.finishedAt?.toISOString() ?? null,
  };
}
