import { deleteSourceMap } from "../../../domain/source-maps/remove.ts";
import { PathId, Success } from "../../../schemas/api/shared.ts";
import { route } from "../../route.ts";

export const remove = route({
  method: "DELETE",
  path: "/sourcemaps/:id",
  scope: "monitors:write",
  tag: "Source maps",
  summary: "Delete a source map",
  params: PathId,
  response: Success,
  async handle({ params, actor, needs }) {
    await deleteSourceMap(needs.database, actor, params.id);
    return { success: true as const };
  },
});
