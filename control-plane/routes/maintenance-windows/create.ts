import { createMaintenanceWindow } from "../../../domain/maintenance/create.ts";
import { CreateMaintenanceWindow, MaintenanceWindow } from "../../../schemas/api/maintenance-windows.ts";
import { route } from "../../route.ts";

export const create = route({
  method: "POST",
  path: "/maintenance-windows",
  scope: "maintenance:write",
  tag: "Maintenance windows",
  summary: "Plan a maintenance window",
  description: "It begins as scheduled. While it is in progress its services are in maintenance, and what monitors and metrics say of them does not count. Emits `maintenance.scheduled`.",
  body: CreateMaintenanceWindow,
  response: MaintenanceWindow,
  status: 201,
  handle: ({ body, actor, needs }) => createMaintenanceWindow(needs.database, actor, body, new Date(needs.clock.now())),
});
