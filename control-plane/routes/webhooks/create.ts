import { createWebhook } from "../../../domain/webhooks/create.ts";
import { CreateWebhook, WebhookWithSecret } from "../../../schemas/api/webhooks.ts";
import { route } from "../../route.ts";

export const create = route({
  method: "POST",
  path: "/webhooks",
  scope: "notifications:write",
  tag: "Webhooks",
  summary: "Create a webhook",
  description:
    "Each event of its types is POSTed to the URL as `{id, event, timestamp, data}` and must be answered 2xx within 30 seconds. A failure is retried 1 minute, 5 minutes, 30 minutes, 2 hours and 24 hours after the failure before it; when the last retry has failed the webhook is disabled. 410 disables it at once. Redirects are failures. The same event can arrive twice: deduplicate by `id`.",
  body: CreateWebhook,
  response: WebhookWithSecret,
  status: 201,
  failures: ["PLAN_LIMIT"],
  handle: ({ body, actor, needs }) => createWebhook(needs, actor, body, new Date(needs.clock.now())),
});
