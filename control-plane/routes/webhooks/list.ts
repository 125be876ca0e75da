import { listWebhooks } from "../../../domain/webhooks/read.ts";
import { WebhookList, WebhookListQuery } from "../../../schemas/api/webhooks.ts";
import { route } from "../../route.ts";

export const list = route({
  method: "GET",
  path: "/webhooks",
  scope: "notifications:read",
  tag: "Webhooks",
  summary: "List webhooks",
  description: "Newest first.",
  query: WebhookListQuery,
  response: WebhookList,
  handle: async ({ actor, query, needs }) => ({ webhooks: await listWebhooks(needs.database, actor.organizationId, query) }),
});
