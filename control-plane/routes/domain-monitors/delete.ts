import { deleteDomainMonitor } from "../../../domain/monitors/domain/delete.ts";
import { PathId, SuccessWithMessage } from "../../../schemas/api/shared.ts";
import { route } from "../../route.ts";

export const remove = route({
  method: "DELETE",
  path: "/domain-monitors/:id",
  scope: "monitors:write",
  tag: "Domain monitors",
  summary: "Delete a domain monitor",
  description: "With all its history, for good.",
  params: PathId,
  response: SuccessWithMessage,
  handle: async ({ params, actor, needs }) => {
    await deleteDomainMonitor(needs, actor, params.id, new Date(needs.clock.now()));
    return { success: true as const, message: "The domain monitor and its history were deleted." };
  },
});
