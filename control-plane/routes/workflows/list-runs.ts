import { listWorkflowRuns } from "../../../domain/workflows/read-runs.ts";
import { PathId } from "../../../schemas/api/shared.ts";
import { WorkflowRunList, WorkflowRunListQuery } from "../../../schemas/api/workflows.ts";
import { route } from "../../route.ts";

export const runs = route({
  method: "GET",
  path: "/workflows/:id/runs",
  scope: "workflows:write",
  tag: "Workflows",
  summary: "List a workflow's runs",
  description: "Newest first.",
  params: PathId,
  query: WorkflowRunListQuery,
  response: WorkflowRunList,
  handle: async ({ params, query, actor, needs }) => ({ runs: await listWorkflowRuns(needs.database, actor.organizationId, params.id, query) }),
});
