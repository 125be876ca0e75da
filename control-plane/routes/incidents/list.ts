import { listIncidents } from "../../../domain/incidents/read.ts";
import { IncidentList, IncidentListQuery } from "../../../schemas/api/incidents.ts";
import { asJson, route } from "../../route.ts";

export const list = route({
  method: "GET",
  path: "/incidents",
  scope: "incidents:read",
  tag: "Incidents",
  summary: "List incidents",
  description: "Newest first, each with its services and newest updates.",
  query: IncidentListQuery,
  response: IncidentList,
  keptUntilChange: true,
  handle: async ({ query, actor, needs }) => asJson(`{"incidents":${await listIncidents(needs.database, actor.organizationId, query)}}`),
});
