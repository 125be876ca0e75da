import { updateHeartbeatMonitor } from "../../../domain/heartbeats/update.ts";
import { HeartbeatMonitor, UpdateHeartbeatMonitor } from "../../../schemas/api/heartbeat-monitors.ts";
import { PathId } from "../../../schemas/api/shared.ts";
import { route } from "../../route.ts";

export const update = route({
  method: "PATCH",
  path: "/heartbeat-monitors/:id",
  scope: "monitors:write",
  tag: "Heartbeat monitors",
  summary: "Change a heartbeat monitor",
  description: "Under another schedule the next ping is expected as if the last one had come under it, but never in the past.",
  params: PathId,
  body: UpdateHeartbeatMonitor,
  response: HeartbeatMonitor,
  failures: ["SLUG_TAKEN"],
  handle: ({ params, body, actor, needs }) => updateHeartbeatMonitor(needs.database, actor, params.id, body, new Date(needs.clock.now())),
});
