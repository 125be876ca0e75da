import { deleteWorkflow } from "../../../domain/workflows/delete.ts";
import { PathId, Success } from "../../../schemas/api/shared.ts";
import { route } from "../../route.ts";

export const remove = route({
  method: "DELETE",
  path: "/workflows/:id",
  scope: "workflows:write",
  tag: "Workflows",
  summary: "Delete a workflow",
  description: "Deletes the workflow with its runs; those that have not ended go no further.",
  params: PathId,
  response: Success,
  handle: async ({ params, actor, needs }) => {
    await deleteWorkflow(needs.database, actor, params.id);
    return { success: true as const };
  },
});
