import { testWebhook } from "../../../domain/deliveries/send-now.ts";
import { PathId } from "../../../schemas/api/shared.ts";
import { WebhookTest } from "../../../schemas/api/webhooks.ts";
import { route } from "../../route.ts";

/** Shorter than a shutdown may take, so that a stop does not cut the answer. */
const WAIT_MS = 8_000;

export const test = route({
  method: "POST",
  path: "/webhooks/:id/test",
  scope: "notifications:write",
  tag: "Webhooks",
  summary: "Send a test delivery",
  description: "Delivers a `webhook.test` event to this webhook, once, also when it is disabled, and answers with the outcome; after 8 seconds without one, with the pending delivery.",
  params: PathId,
  response: WebhookTest,
  // The delivery is made by the scheduler, which has to see it.
  commitsEarly: true,
  handle: async ({ params, actor, needs }) => {
    const delivery = await testWebhook(needs.database, actor.organizationId, params.id, { at: new Date(needs.clock.now()), waitMs: WAIT_MS });
    return { success: delivery.status === "delivered", delivery };
  },
});
