import { deleteIncident } from "../../../domain/incidents/delete.ts";
import { PathId, Success } from "../../../schemas/api/shared.ts";
import { route } from "../../route.ts";

export const remove = route({
  method: "DELETE",
  path: "/incidents/:id",
  scope: "incidents:write",
  tag: "Incidents",
  summary: "Delete an incident",
  description: "Deletes the incident with its updates. Its services lose what it said of them. Emits `incident.deleted`.",
  params: PathId,
  response: Success,
  handle: async ({ params, actor, needs }) => {
    await deleteIncident(needs.database, actor, params.id, new Date(needs.clock.now()));
    return { success: true as const };
  },
});
