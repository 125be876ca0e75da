import { getMaintenanceWindow } from "../../../domain/maintenance/read.ts";
import { MaintenanceWindow } from "../../../schemas/api/maintenance-windows.ts";
import { PathId } from "../../../schemas/api/shared.ts";
import { route } from "../../route.ts";

export const get = route({
  method: "GET",
  path: "/maintenance-windows/:id",
  scope: "maintenance:read",
  tag: "Maintenance windows",
  summary: "Get a maintenance window",
  params: PathId,
  response: MaintenanceWindow,
  handle: ({ params, actor, needs }) => getMaintenanceWindow(needs.database, actor.organizationId, params.id),
});
