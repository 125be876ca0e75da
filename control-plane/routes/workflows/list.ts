import { listWorkflows } from "../../../domain/workflows/read.ts";
import { WorkflowList, WorkflowListQuery } from "../../../schemas/api/workflows.ts";
import { route } from "../../route.ts";

export const list = route({
  method: "GET",
  path: "/workflows",
  scope: "workflows:write",
  tag: "Workflows",
  summary: "List workflows",
  description: "Newest first.",
  query: WorkflowListQuery,
  response: WorkflowList,
  handle: async ({ query, actor, needs }) => ({ workflows: await listWorkflows(needs.database, actor.organizationId, query) }),
});
