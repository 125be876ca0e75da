import { createHeartbeatMonitor } from "../../../domain/heartbeats/create.ts";
import { CreateHeartbeatMonitor, HeartbeatMonitor } from "../../../schemas/api/heartbeat-monitors.ts";
import { route } from "../../route.ts";

export const create = route({
  method: "POST",
  path: "/heartbeat-monitors",
  scope: "monitors:write",
  tag: "Heartbeat monitors",
  summary: "Create a heartbeat monitor",
  description: "It is new until its first ping: POST /api/heartbeat/{id or slug}.",
  body: CreateHeartbeatMonitor,
  response: HeartbeatMonitor,
  status: 201,
  failures: ["PLAN_LIMIT", "SLUG_TAKEN", "NOT_FOUND"],
  handle: ({ body, actor, needs }) => createHeartbeatMonitor(needs.database, actor, body, new Date(needs.clock.now())),
});
