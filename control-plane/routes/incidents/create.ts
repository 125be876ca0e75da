import { openIncident } from "../../../domain/incidents/open.ts";
import { CreateIncident, Incident } from "../../../schemas/api/incidents.ts";
import { route } from "../../route.ts";

export const create = route({
  method: "POST",
  path: "/incidents",
  scope: "incidents:write",
  tag: "Incidents",
  summary: "Open an incident",
  description: "While it is open its services are at least as bad as its severity says. Emits `incident.created`.",
  body: CreateIncident,
  response: Incident,
  status: 201,
  handle: ({ body, actor, needs }) => openIncident(needs.database, actor, { ...body, at: new Date(needs.clock.now()) }),
});
