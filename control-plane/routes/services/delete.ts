import { deleteService } from "../../../domain/services/delete.ts";
import { PathId, Success } from "../../../schemas/api/shared.ts";
import { route } from "../../route.ts";

export const remove = route({
  method: "DELETE",
  path: "/services/:id",
  scope: "services:write",
  tag: "Services",
  summary: "Delete a service",
  description: "Deletes the service with its status history, its error signatures and its beacon keys. Incidents and heartbeat monitors that had it stay, without it.",
  params: PathId,
  response: Success,
  handle: async ({ params, actor, needs }) => {
    await deleteService(needs.database, actor, params.id);
    return { success: true as const };
  },
});
