import { getDomainMonitor } from "../../../domain/monitors/domain/read.ts";
import { PathId } from "../../../schemas/api/shared.ts";
import { DomainMonitorInFull } from "../../../schemas/api/domain-monitors.ts";
import { route } from "../../route.ts";

export const get = route({
  method: "GET",
  path: "/domain-monitors/:id",
  scope: "monitors:read",
  tag: "Domain monitors",
  summary: "Get a domain monitor",
  description: "With the look-ups of the last 30 days.",
  params: PathId,
  response: DomainMonitorInFull,
  handle: ({ params, actor, needs }) => getDomainMonitor(needs, actor.organizationId, params.id, new Date(needs.clock.now())),
});
