import { confirmOwnerEmail as confirm } from "../../../domain/organizations/owner-email.ts";
import { ConfirmOwnerEmail, OrganizationConfigAnswer } from "../../../schemas/api/organizations.ts";
import { route } from "../../route.ts";

export const confirmOwnerEmail = route({
  method: "POST",
  path: "/config/owner-email/confirm",
  scope: "config:write",
  tag: "Configuration",
  summary: "Confirm the owner's address",
  description: "Takes the code that was mailed to `owner_email` when it changed. A code holds for 15 minutes and five tries. Until then the address gets no notices.",
  body: ConfirmOwnerEmail,
  response: OrganizationConfigAnswer,
  failures: ["CONFLICT"],
  // A wrong try counts also when the answer is a refusal.
  commitsEarly: true,
  handle: async ({ body, actor, needs }) => ({ config: await confirm(needs.database, actor, body, new Date(needs.clock.now())) }),
});
