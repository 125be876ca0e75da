import { createChannel } from "../../../domain/channels/create.ts";
import { Channel, CreateChannel } from "../../../schemas/api/channels.ts";
import { route } from "../../route.ts";

export const create = route({
  method: "POST",
  path: "/notifications/channels",
  scope: "notifications:write",
  tag: "Notification channels",
  summary: "Create a notification channel",
  description: "Where people hear of incidents and maintenance, and of the monitors that name it. A channel is told one thing after the other, in order and at its vendor's pace; what fails is tried again for two and a half hours. Addresses must be public and https. Secrets and hook URLs are never shown whole again.",
  body: CreateChannel,
  response: Channel,
  status: 201,
  failures: ["PLAN_LIMIT", "PLAN_RESTRICTED"],
  handle: ({ body, actor, needs }) => createChannel(needs, actor, body, new Date(needs.clock.now())),
});
