import { updateIncident } from "../../../domain/incidents/change.ts";
import { Incident, UpdateIncident } from "../../../schemas/api/incidents.ts";
import { PathId } from "../../../schemas/api/shared.ts";
import { route } from "../../route.ts";

export const update = route({
  method: "PATCH",
  path: "/incidents/:id",
  scope: "incidents:write",
  tag: "Incidents",
  summary: "Change an incident",
  description: "Adds no update; `POST /incidents/{id}/updates` does. Emits `incident.updated`, or `incident.resolved` when this resolves it, or nothing when nothing changes.",
  params: PathId,
  body: UpdateIncident,
  response: Incident,
  handle: ({ params, body, actor, needs }) => updateIncident(needs.database, actor, params.id, body, new Date(needs.clock.now())),
});
