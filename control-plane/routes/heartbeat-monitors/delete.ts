import { deleteHeartbeatMonitor } from "../../../domain/heartbeats/delete.ts";
import { PathId, SuccessWithMessage } from "../../../schemas/api/shared.ts";
import { route } from "../../route.ts";

export const remove = route({
  method: "DELETE",
  path: "/heartbeat-monitors/:id",
  scope: "monitors:write",
  tag: "Heartbeat monitors",
  summary: "Delete a heartbeat monitor",
  params: PathId,
  response: SuccessWithMessage,
  handle: async ({ params, actor, needs }) => {
    await deleteHeartbeatMonitor(needs.database, actor, params.id, new Date(needs.clock.now()));
    return { success: true as const, message: "The heartbeat monitor was deleted." };
  },
});
