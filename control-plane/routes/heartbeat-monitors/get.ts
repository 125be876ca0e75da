import { getHeartbeatMonitor } from "../../../domain/heartbeats/read.ts";
import { HeartbeatMonitor } from "../../../schemas/api/heartbeat-monitors.ts";
import { PathId } from "../../../schemas/api/shared.ts";
import { route } from "../../route.ts";

export const get = route({
  method: "GET",
  path: "/heartbeat-monitors/:id",
  scope: "monitors:read",
  tag: "Heartbeat monitors",
  summary: "Get a heartbeat monitor",
  params: PathId,
  response: HeartbeatMonitor,
  handle: ({ params, actor, needs }) => getHeartbeatMonitor(needs.database, actor.organizationId, params.id),
});
