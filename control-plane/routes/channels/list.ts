import { listChannels } from "../../../domain/channels/read.ts";
import { ChannelList, ChannelListQuery } from "../../../schemas/api/channels.ts";
import { route } from "../../route.ts";

export const list = route({
  method: "GET",
  path: "/notifications/channels",
  scope: "notifications:read",
  tag: "Notification channels",
  summary: "List notification channels",
  description: "Newest first.",
  query: ChannelListQuery,
  response: ChannelList,
  handle: async ({ actor, query, needs }) => ({ channels: await listChannels(needs.database, actor.organizationId, query) }),
});
