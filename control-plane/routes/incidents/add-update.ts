import { addIncidentUpdate } from "../../../domain/incidents/change.ts";
import { AddIncidentUpdate, Incident } from "../../../schemas/api/incidents.ts";
import { PathId } from "../../../schemas/api/shared.ts";
import { route } from "../../route.ts";

export const addUpdate = route({
  method: "POST",
  path: "/incidents/:id/updates",
  scope: "incidents:write",
  tag: "Incidents",
  summary: "Add an update to an incident",
  description: "Answers with the incident and its newest updates. Emits `incident.updated`, or `incident.resolved` when this resolves it. An incident has at most 1,000 updates.",
  params: PathId,
  body: AddIncidentUpdate,
  response: Incident,
  status: 201,
  failures: ["PLAN_LIMIT"],
  handle: ({ params, body, actor, needs }) => addIncidentUpdate(needs.database, actor, params.id, body, new Date(needs.clock.now())),
});
