import { getWorkflowRun } from "../../../domain/workflows/read-runs.ts";
import { WorkflowRun, WorkflowRunPath } from "../../../schemas/api/workflows.ts";
import { route } from "../../route.ts";

export const run = route({
  method: "GET",
  path: "/workflows/runs/:runId",
  scope: "workflows:write",
  tag: "Workflows",
  summary: "Get a workflow run",
  description: "With a trace of what each step did.",
  params: WorkflowRunPath,
  response: WorkflowRun,
  handle: ({ params, actor, needs }) => getWorkflowRun(needs.database, actor.organizationId, params.runId),
});
