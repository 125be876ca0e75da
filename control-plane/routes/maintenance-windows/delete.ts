import { deleteMaintenanceWindow } from "../../../domain/maintenance/delete.ts";
import { PathId, Success } from "../../../schemas/api/shared.ts";
import { route } from "../../route.ts";

export const remove = route({
  method: "DELETE",
  path: "/maintenance-windows/:id",
  scope: "maintenance:write",
  tag: "Maintenance windows",
  summary: "Delete a maintenance window",
  description: "Deletes the window with its updates. Services that it held in maintenance are free of it. Emits nothing.",
  params: PathId,
  response: Success,
  handle: async ({ params, actor, needs }) => {
    await deleteMaintenanceWindow(needs.database, actor, params.id, new Date(needs.clock.now()));
    return { success: true as const };
  },
});
