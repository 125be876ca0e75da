import { updateWebhook } from "../../../domain/webhooks/update.ts";
import { PathId } from "../../../schemas/api/shared.ts";
import { UpdateWebhook, WebhookAnswer } from "../../../schemas/api/webhooks.ts";
import { route } from "../../route.ts";

export const update = route({
  method: "PATCH",
  path: "/webhooks/:id",
  scope: "notifications:write",
  tag: "Webhooks",
  summary: "Change a webhook",
  params: PathId,
  body: UpdateWebhook,
  response: WebhookAnswer,
  handle: async ({ params, body, actor, needs }) => ({ webhook: await updateWebhook(needs, actor, params.id, body, new Date(needs.clock.now())) }),
});
