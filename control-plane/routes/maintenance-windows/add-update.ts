import { addMaintenanceUpdate } from "../../../domain/maintenance/change.ts";
import { AddMaintenanceUpdate, MaintenanceWindow } from "../../../schemas/api/maintenance-windows.ts";
import { PathId } from "../../../schemas/api/shared.ts";
import { route } from "../../route.ts";

export const addUpdate = route({
  method: "POST",
  path: "/maintenance-windows/:id/updates",
  scope: "maintenance:write",
  tag: "Maintenance windows",
  summary: "Add an update to a maintenance window",
  description: "Answers with the window and its newest updates. With a status it also moves the window there, with the events of that step. A window has at most 1,000 updates.",
  params: PathId,
  body: AddMaintenanceUpdate,
  response: MaintenanceWindow,
  status: 201,
  failures: ["CONFLICT", "PLAN_LIMIT"],
  handle: ({ params, body, actor, needs }) => addMaintenanceUpdate(needs.database, actor, params.id, body, new Date(needs.clock.now())),
});
