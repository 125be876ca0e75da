import { listMaintenanceWindows } from "../../../domain/maintenance/read.ts";
import { MaintenanceWindowList, MaintenanceWindowListQuery } from "../../../schemas/api/maintenance-windows.ts";
import { route } from "../../route.ts";

export const list = route({
  method: "GET",
  path: "/maintenance-windows",
  scope: "maintenance:read",
  tag: "Maintenance windows",
  summary: "List maintenance windows",
  description: "Those that start last come first, each with its services and newest updates.",
  query: MaintenanceWindowListQuery,
  response: MaintenanceWindowList,
  handle: async ({ query, actor, needs }) => ({ maintenance_windows: await listMaintenanceWindows(needs.database, actor.organizationId, query) }),
});
