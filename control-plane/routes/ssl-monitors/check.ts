import { checkSslMonitorNow } from "../../../domain/monitors/ssl/check-now.ts";
import { PathId } from "../../../schemas/api/shared.ts";
import { SslCheck } from "../../../schemas/api/ssl-monitors.ts";
import { route } from "../../route.ts";
import { probeOf } from "./probe-of.ts";

export const check = route({
  method: "POST",
  path: "/ssl-monitors/:id",
  scope: "monitors:write",
  tag: "SSL monitors",
  summary: "Check an SSL monitor now",
  description: "The check counts as any: it is kept in the history, and events follow from it. It may take up to 10 s.",
  params: PathId,
  response: SslCheck,
  commitsEarly: true,
  handle: ({ params, actor, needs }) => checkSslMonitorNow({ database: needs.database, probe: probeOf(needs.config), now: () => new Date(needs.clock.now()) }, actor.organizationId, params.id),
});
