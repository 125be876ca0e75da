import { redeliverFailed } from "../../../domain/deliveries/redeliver-failed.ts";
import { PathId } from "../../../schemas/api/shared.ts";
import { PlannedRedeliveries, RedeliverFailed } from "../../../schemas/api/webhooks.ts";
import { route } from "../../route.ts";

export const allFailed = route({
  method: "POST",
  path: "/webhooks/:id/redeliver-failed",
  scope: "notifications:write",
  tag: "Webhooks",
  summary: "Deliver again all that failed",
  description:
    "Plans one redelivery, tried once, for each event of which a delivery failed or was abandoned since then, none arrived and none is pending. Oldest first, a thousand a second. Asked again it plans nothing twice. Events of the time in which the webhook was disabled have no deliveries.",
  params: PathId,
  body: RedeliverFailed,
  response: PlannedRedeliveries,
  status: 202,
  handle: ({ params, body, actor, needs }) => redeliverFailed(needs.database, actor.organizationId, params.id, body, new Date(needs.clock.now())),
});
