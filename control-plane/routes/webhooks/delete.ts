import { deleteWebhook } from "../../../domain/webhooks/delete.ts";
import { PathId, Success } from "../../../schemas/api/shared.ts";
import { route } from "../../route.ts";

export const remove = route({
  method: "DELETE",
  path: "/webhooks/:id",
  scope: "notifications:write",
  tag: "Webhooks",
  summary: "Delete a webhook",
  description: "Deletes the webhook with its delivery history; what is pending is not delivered.",
  params: PathId,
  response: Success,
  handle: async ({ params, actor, needs }) => {
    await deleteWebhook(needs.database, actor, params.id);
    return { success: true as const };
  },
});
