import { checkUptimeNow } from "../../../domain/monitors/uptime/check-now.ts";
import { makeUptimeProbe } from "../../../domain/monitors/uptime/probe.ts";
import { PathId } from "../../../schemas/api/shared.ts";
import { UptimeCheck } from "../../../schemas/api/uptime-monitors.ts";
import { route } from "../../route.ts";

export const check = route({
  method: "POST",
  path: "/uptime-monitors/:id",
  scope: "monitors:write",
  tag: "Uptime monitors",
  summary: "Check an uptime monitor now",
  description: "Waits for the check, as long as the monitor's `timeout_ms` at most. It counts as any other; of a paused monitor it is only kept.",
  params: PathId,
  response: UptimeCheck,
  failures: ["CONFLICT"],
  commitsEarly: true,
  handle: ({ params, actor, needs }) => checkUptimeNow({ ...needs, probe: makeUptimeProbe(needs.config) }, actor.organizationId, params.id),
});
