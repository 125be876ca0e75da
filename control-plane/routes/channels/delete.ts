import { deleteChannel } from "../../../domain/channels/delete.ts";
import { PathId, Success } from "../../../schemas/api/shared.ts";
import { route } from "../../route.ts";

export const remove = route({
  method: "DELETE",
  path: "/notifications/channels/:id",
  scope: "notifications:write",
  tag: "Notification channels",
  summary: "Delete a notification channel",
  params: PathId,
  response: Success,
  handle: async ({ params, actor, needs }) => {
    await deleteChannel(needs.database, actor, params.id);
    return { success: true as const };
  },
});
