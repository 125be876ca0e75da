import { deleteStatusPage } from "../../../domain/status-pages/delete.ts";
import { PathId, Success } from "../../../schemas/api/shared.ts";
import { route } from "../../route.ts";

export const remove = route({
  method: "DELETE",
  path: "/status-pages/:id",
  scope: "status_pages:write",
  tag: "Status pages",
  summary: "Delete a status page",
  description: "With its designs; its services stay. The default page and the only page cannot be deleted.",
  params: PathId,
  response: Success,
  failures: ["DEFAULT_PAGE", "ONLY_PAGE"],
  handle: async ({ params, actor, needs }) => {
    await deleteStatusPage(needs.database, actor, params.id);
    return { success: true as const };
  },
});
