import { updateMaintenanceWindow } from "../../../domain/maintenance/change.ts";
import { MaintenanceWindow, UpdateMaintenanceWindow } from "../../../schemas/api/maintenance-windows.ts";
import { PathId } from "../../../schemas/api/shared.ts";
import { route } from "../../route.ts";

export const update = route({
  method: "PATCH",
  path: "/maintenance-windows/:id",
  scope: "maintenance:write",
  tag: "Maintenance windows",
  summary: "Change a maintenance window",
  description: "Adds no update; `POST /maintenance-windows/{id}/updates` does. Emits `maintenance.started` when it becomes in_progress and `maintenance.completed` when it becomes completed; cancelling emits nothing.",
  params: PathId,
  body: UpdateMaintenanceWindow,
  response: MaintenanceWindow,
  failures: ["CONFLICT"],
  handle: ({ params, body, actor, needs }) => updateMaintenanceWindow(needs.database, actor, params.id, body, new Date(needs.clock.now())),
});
