import { deleteSubscriber } from "../../../domain/subscribers/read.ts";
import { Success } from "../../../schemas/api/shared.ts";
import { SubscriberPath } from "../../../schemas/api/subscribers.ts";
import { route } from "../../route.ts";

export const remove = route({
  method: "DELETE",
  path: "/status-pages/:id/subscribers/:subscriberId",
  scope: "status_pages:write",
  tag: "Subscribers",
  summary: "Delete a subscriber",
  description: "What was not sent to it yet is not sent. It may subscribe again.",
  params: SubscriberPath,
  response: Success,
  handle: async ({ params, actor, needs }) => {
    await deleteSubscriber(needs.database, actor, params.id, params.subscriberId);
    return { success: true as const };
  },
});
