import { sendOwnerCode as send } from "../../../domain/organizations/owner-email.ts";
import { Success } from "../../../schemas/api/shared.ts";
import { route } from "../../route.ts";

export const sendOwnerCode = route({
  method: "POST",
  path: "/config/owner-email/send-code",
  scope: "config:write",
  tag: "Configuration",
  summary: "Send another code to the owner's address",
  description: "Mails `owner_email` a new code; the one before does not hold any more. Once a minute and ten times a day.",
  response: Success,
  failures: ["CONFLICT"],
  handle: async ({ actor, needs }) => {
    await send(needs.database, actor, new Date(needs.clock.now()));
    return { success: true as const };
  },
});
