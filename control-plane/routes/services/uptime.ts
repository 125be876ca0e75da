import { getUptime } from "../../../domain/services/uptime.ts";
import { PathId } from "../../../schemas/api/shared.ts";
import { ServiceUptime, UptimeQuery } from "../../../schemas/api/uptime.ts";
import { route } from "../../route.ts";

export const uptime = route({
  method: "GET",
  path: "/services/:id/uptime",
  scope: "services:read",
  tag: "Services",
  summary: "Read a service's uptime by day",
  description:
    "Days are those of the organization's time zone. `uptime_percent` is the share of the time in which the service was neither in partial nor in major outage: " +
    "degraded and maintenance count as up. It is cut to four decimals, so 100 means no downtime at all.",
  params: PathId,
  query: UptimeQuery,
  response: ServiceUptime,
  handle: ({ params, query, actor, needs }) => getUptime(needs.database, actor.organizationId, params.id, { days: query.days, now: new Date(needs.clock.now()) }),
});
