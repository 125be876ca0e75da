import { getWorkflow } from "../../../domain/workflows/read.ts";
import { PathId } from "../../../schemas/api/shared.ts";
import { Workflow } from "../../../schemas/api/workflows.ts";
import { route } from "../../route.ts";

export const get = route({
  method: "GET",
  path: "/workflows/:id",
  scope: "workflows:write",
  tag: "Workflows",
  summary: "Get a workflow",
  params: PathId,
  response: Workflow,
  handle: ({ params, actor, needs }) => getWorkflow(needs.database, actor.organizationId, params.id),
});
