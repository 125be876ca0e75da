import { getChannel } from "../../../domain/channels/read.ts";
import { Channel } from "../../../schemas/api/channels.ts";
import { PathId } from "../../../schemas/api/shared.ts";
import { route } from "../../route.ts";

export const get = route({
  method: "GET",
  path: "/notifications/channels/:id",
  scope: "notifications:read",
  tag: "Notification channels",
  summary: "Get a notification channel",
  params: PathId,
  response: Channel,
  handle: ({ params, actor, needs }) => getChannel(needs.database, actor.organizationId, params.id),
});
