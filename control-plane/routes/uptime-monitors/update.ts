import { updateUptimeMonitor } from "../../../domain/monitors/uptime/update.ts";
import { PathId } from "../../../schemas/api/shared.ts";
import { UpdateUptimeMonitor, UptimeMonitor } from "../../../schemas/api/uptime-monitors.ts";
import { route } from "../../route.ts";

export const update = route({
  method: "PATCH",
  path: "/uptime-monitors/:id",
  scope: "monitors:write",
  tag: "Uptime monitors",
  summary: "Change an uptime monitor",
  description: "When what its checks look at is changed, the next check follows within seconds.",
  params: PathId,
  body: UpdateUptimeMonitor,
  response: UptimeMonitor,
  handle: ({ params, body, actor, needs }) => updateUptimeMonitor(needs, actor, { id: params.id, patch: body, at: new Date(needs.clock.now()) }),
});
