import { readSuccessRate } from "../../../domain/deliveries/success-rate.ts";
import { getWebhook } from "../../../domain/webhooks/read.ts";
import { PathId } from "../../../schemas/api/shared.ts";
import { WebhookInFull } from "../../../schemas/api/webhooks.ts";
import { route } from "../../route.ts";

export const get = route({
  method: "GET",
  path: "/webhooks/:id",
  scope: "notifications:read",
  tag: "Webhooks",
  summary: "Get a webhook",
  description: "With the share of its events that arrived in the last 7 days.",
  params: PathId,
  response: WebhookInFull,
  handle: async ({ params, actor, needs: { database, clock } }) => {
    const webhook = await getWebhook(database, actor.organizationId, params.id);
    return { webhook, success_rate: await readSuccessRate(database, webhook.id, new Date(clock.now())) };
  },
});
