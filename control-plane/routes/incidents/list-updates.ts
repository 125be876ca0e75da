import { listIncidentUpdates } from "../../../domain/incidents/read.ts";
import { IncidentUpdateList } from "../../../schemas/api/incidents.ts";
import { PathId, UpdateListQuery } from "../../../schemas/api/shared.ts";
import { route } from "../../route.ts";

export const listUpdates = route({
  method: "GET",
  path: "/incidents/:id/updates",
  scope: "incidents:read",
  tag: "Incidents",
  summary: "List an incident's updates",
  description: "All of them by pages, newest first as the incident itself shows them.",
  params: PathId,
  query: UpdateListQuery,
  response: IncidentUpdateList,
  handle: ({ params, query, actor, needs }) => listIncidentUpdates(needs.database, actor.organizationId, params.id, query),
});
