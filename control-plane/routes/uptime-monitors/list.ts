import { listUptimeMonitors } from "../../../domain/monitors/uptime/read.ts";
import { UptimeMonitorList, UptimeMonitorListQuery } from "../../../schemas/api/uptime-monitors.ts";
import { route } from "../../route.ts";

export const list = route({
  method: "GET",
  path: "/uptime-monitors",
  scope: "monitors:read",
  tag: "Uptime monitors",
  summary: "List uptime monitors",
  description: "Newest first.",
  query: UptimeMonitorListQuery,
  response: UptimeMonitorList,
  handle: async ({ query, actor, needs }) => ({ monitors: await listUptimeMonitors(needs.database, actor.organizationId, query) }),
});
