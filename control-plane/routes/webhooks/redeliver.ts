import { redeliver } from "../../../domain/deliveries/send-now.ts";
import { DeliveryAnswer, DeliveryPath } from "../../../schemas/api/webhooks.ts";
import { route } from "../../route.ts";

export const again = route({
  method: "POST",
  path: "/webhooks/:id/deliveries/:deliveryId/redeliver",
  scope: "notifications:write",
  tag: "Webhooks",
  summary: "Deliver an event again",
  description: "Plans a new delivery of the same event, with the same `id` and body, tried once and also when the webhook is disabled. Answers with it while it is pending.",
  params: DeliveryPath,
  response: DeliveryAnswer,
  status: 201,
  handle: async ({ params, actor, needs }) => ({ delivery: await redeliver(needs.database, actor.organizationId, params.id, params.deliveryId, new Date(needs.clock.now())) }),
});
