import { updateChannel } from "../../../domain/channels/update.ts";
import { Channel, UpdateChannel } from "../../../schemas/api/channels.ts";
import { PathId } from "../../../schemas/api/shared.ts";
import { route } from "../../route.ts";

export const update = route({
  method: "PATCH",
  path: "/notifications/channels/:id",
  scope: "notifications:write",
  tag: "Notification channels",
  summary: "Change a notification channel",
  description: "A channel's type stays; for another one create another channel.",
  params: PathId,
  body: UpdateChannel,
  response: Channel,
  handle: ({ params, body, actor, needs }) => updateChannel(needs, actor, params.id, body, new Date(needs.clock.now())),
});
