import { sendCode as send } from "../../../domain/channels/phone-code.ts";
import { PathId, Success } from "../../../schemas/api/shared.ts";
import { route } from "../../route.ts";

export const sendCode = route({
  method: "POST",
  path: "/notifications/channels/:id/send-code",
  scope: "notifications:write",
  tag: "Notification channels",
  summary: "Send another code",
  description: "Sends the number of an unconfirmed channel a new code; the one before does not hold any more. Once a minute; a number gets five codes a day.",
  params: PathId,
  response: Success,
  failures: ["CONFLICT"],
  handle: async ({ params, actor, needs }) => {
    await send(needs.database, actor, params.id, new Date(needs.clock.now()));
    return { success: true as const };
  },
});
