import { getSslMonitor } from "../../../domain/monitors/ssl/read.ts";
import { PathId } from "../../../schemas/api/shared.ts";
import { SslMonitorInFull } from "../../../schemas/api/ssl-monitors.ts";
import { route } from "../../route.ts";

export const get = route({
  method: "GET",
  path: "/ssl-monitors/:id",
  scope: "monitors:read",
  tag: "SSL monitors",
  summary: "Get an SSL monitor",
  description: "With the whole certificate and the checks of the last 30 days.",
  params: PathId,
  response: SslMonitorInFull,
  handle: ({ params, actor, needs }) => getSslMonitor(needs, actor.organizationId, params.id, new Date(needs.clock.now())),
});
