import { deleteSslMonitor } from "../../../domain/monitors/ssl/delete.ts";
import { PathId, SuccessWithMessage } from "../../../schemas/api/shared.ts";
import { route } from "../../route.ts";

export const remove = route({
  method: "DELETE",
  path: "/ssl-monitors/:id",
  scope: "monitors:write",
  tag: "SSL monitors",
  summary: "Delete an SSL monitor",
  description: "With all its history, for good.",
  params: PathId,
  response: SuccessWithMessage,
  handle: async ({ params, actor, needs }) => {
    await deleteSslMonitor(needs, actor, params.id, new Date(needs.clock.now()));
    return { success: true as const, message: "The SSL monitor and its history were deleted." };
  },
});
