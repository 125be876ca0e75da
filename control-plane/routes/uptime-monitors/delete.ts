import { deleteUptimeMonitor } from "../../../domain/monitors/uptime/delete.ts";
import { PathId, SuccessWithMessage } from "../../../schemas/api/shared.ts";
import { route } from "../../route.ts";

export const remove = route({
  method: "DELETE",
  path: "/uptime-monitors/:id",
  scope: "monitors:write",
  tag: "Uptime monitors",
  summary: "Delete an uptime monitor",
  description: "Removes all that its checks found. An incident that it opened stays.",
  params: PathId,
  response: SuccessWithMessage,
  handle: async ({ params, actor, needs }) => {
    await deleteUptimeMonitor(needs, actor, params.id, new Date(needs.clock.now()));
    return { success: true as const, message: "The uptime monitor was deleted." };
  },
});
