import { listDeliveries } from "../../../domain/deliveries/read.ts";
import { PathId } from "../../../schemas/api/shared.ts";
import { DeliveryList, DeliveryListQuery } from "../../../schemas/api/webhooks.ts";
import { route } from "../../route.ts";

export const deliveries = route({
  method: "GET",
  path: "/webhooks/:id/deliveries",
  scope: "notifications:read",
  tag: "Webhooks",
  summary: "List a webhook's deliveries",
  description: "Every attempt is one delivery. Newest first. Deliveries are kept for 30 days.",
  params: PathId,
  query: DeliveryListQuery,
  response: DeliveryList,
  handle: ({ params, query, actor, needs }) => listDeliveries(needs.database, actor.organizationId, params.id, query),
});
