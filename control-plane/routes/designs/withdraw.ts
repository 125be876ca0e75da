import { withdrawDesign } from "../../../domain/designs/withdraw.ts";
import { PathId, Success } from "../../../schemas/api/shared.ts";
import { route } from "../../route.ts";

export const withdraw = route({
  method: "DELETE",
  path: "/status-pages/:id/design",
  scope: "status_pages:write",
  tag: "Designs",
  summary: "Withdraw a status page's published design",
  description: "The page follows its own fields again and shows every section; the version is archived and can be restored. The draft stays. 404 when nothing is published.",
  params: PathId,
  response: Success,
  handle: async ({ params, actor, needs }) => {
    await withdrawDesign(needs.database, actor, params.id, new Date(needs.clock.now()));
    return { success: true as const };
  },
});
