import { listHeartbeatMonitors } from "../../../domain/heartbeats/read.ts";
import { HeartbeatMonitorList, HeartbeatMonitorListQuery } from "../../../schemas/api/heartbeat-monitors.ts";
import { route } from "../../route.ts";

export const list = route({
  method: "GET",
  path: "/heartbeat-monitors",
  scope: "monitors:read",
  tag: "Heartbeat monitors",
  summary: "List heartbeat monitors",
  description: "Newest first.",
  query: HeartbeatMonitorListQuery,
  response: HeartbeatMonitorList,
  handle: async ({ query, actor, needs }) => ({ heartbeat_monitors: await listHeartbeatMonitors(needs.database, actor.organizationId, query) }),
});
