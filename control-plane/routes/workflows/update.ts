import { updateWorkflow } from "../../../domain/workflows/update.ts";
import { PathId } from "../../../schemas/api/shared.ts";
import { UpdateWorkflow, Workflow } from "../../../schemas/api/workflows.ts";
import { route } from "../../route.ts";

export const update = route({
  method: "PATCH",
  path: "/workflows/:id",
  scope: "workflows:write",
  tag: "Workflows",
  summary: "Change a workflow",
  params: PathId,
  body: UpdateWorkflow,
  response: Workflow,
  handle: ({ params, body, actor, needs }) => updateWorkflow(needs, actor, params.id, body, new Date(needs.clock.now())),
});
