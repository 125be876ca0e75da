import { getWebhook } from "../../../domain/webhooks/read.ts";
import { PathId } from "../../../schemas/api/shared.ts";
import { WebhookAnswer } from "../../../schemas/api/webhooks.ts";
import { route } from "../../route.ts";

export const get = route({
  method: "GET",
  path: "/webhooks/:id",
  scope: "notifications:read",
  tag: "Webhooks",
  summary: "Get a webhook",
  params: PathId,
  response: WebhookAnswer,
  handle: async ({ params, actor, needs }) => ({ webhook: await getWebhook(needs.database, actor.organizationId, params.id) }),
});
