import { getIncident } from "../../../domain/incidents/read.ts";
import { Incident } from "../../../schemas/api/incidents.ts";
import { PathId } from "../../../schemas/api/shared.ts";
import { route } from "../../route.ts";

export const get = route({
  method: "GET",
  path: "/incidents/:id",
  scope: "incidents:read",
  tag: "Incidents",
  summary: "Get an incident",
  params: PathId,
  response: Incident,
  handle: ({ params, actor, needs }) => getIncident(needs.database, actor.organizationId, params.id),
});
