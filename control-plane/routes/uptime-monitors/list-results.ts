import { readUptimeResults } from "../../../domain/monitors/uptime/read-results.ts";
import { PathId } from "../../../schemas/api/shared.ts";
import { UptimeResults, UptimeResultsQuery } from "../../../schemas/api/uptime-monitors.ts";
import { route } from "../../route.ts";

export const listResults = route({
  method: "GET",
  path: "/uptime-monitors/:id/results",
  scope: "monitors:read",
  tag: "Uptime monitors",
  summary: "Read what an uptime monitor found",
  description: "Single checks and how they went by hour; kept for 30 days.",
  params: PathId,
  query: UptimeResultsQuery,
  response: UptimeResults,
  handle: ({ params, query, actor, needs }) => readUptimeResults(needs, { organizationId: actor.organizationId, id: params.id, query, now: new Date(needs.clock.now()) }),
});
