import { createUptimeMonitor } from "../../../domain/monitors/uptime/create.ts";
import { CreateUptimeMonitor, UptimeMonitor } from "../../../schemas/api/uptime-monitors.ts";
import { route } from "../../route.ts";

export const create = route({
  method: "POST",
  path: "/uptime-monitors",
  scope: "monitors:write",
  tag: "Uptime monitors",
  summary: "Create an uptime monitor",
  description: "It is pending until its first check, which follows within seconds.",
  body: CreateUptimeMonitor,
  response: UptimeMonitor,
  status: 201,
  failures: ["PLAN_LIMIT", "NOT_FOUND"],
  handle: ({ body, actor, needs }) => createUptimeMonitor(needs, actor, body, new Date(needs.clock.now())),
});
