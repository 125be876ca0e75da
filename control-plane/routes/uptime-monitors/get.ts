import { getUptimeMonitor } from "../../../domain/monitors/uptime/read.ts";
import { UptimeMonitor } from "../../../schemas/api/uptime-monitors.ts";
import { PathId } from "../../../schemas/api/shared.ts";
import { route } from "../../route.ts";

export const get = route({
  method: "GET",
  path: "/uptime-monitors/:id",
  scope: "monitors:read",
  tag: "Uptime monitors",
  summary: "Get an uptime monitor",
  params: PathId,
  response: UptimeMonitor,
  handle: ({ params, actor, needs }) => getUptimeMonitor(needs.database, actor.organizationId, params.id),
});
