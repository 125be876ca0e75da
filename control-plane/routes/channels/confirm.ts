import { confirmChannel } from "../../../domain/channels/phone-code.ts";
import { Channel, ConfirmChannel } from "../../../schemas/api/channels.ts";
import { PathId } from "../../../schemas/api/shared.ts";
import { route } from "../../route.ts";

export const confirm = route({
  method: "POST",
  path: "/notifications/channels/:id/confirm",
  scope: "notifications:write",
  tag: "Notification channels",
  summary: "Confirm a phone number",
  description: "Takes the code that was sent to the number when the channel was made or its number changed. A code holds for 15 minutes and five tries.",
  params: PathId,
  body: ConfirmChannel,
  response: Channel,
  failures: ["CONFLICT"],
  // A wrong try counts also when the answer is a refusal.
  commitsEarly: true,
  handle: ({ params, actor, body, needs }) => confirmChannel(needs.database, actor, params.id, body, new Date(needs.clock.now())),
});
