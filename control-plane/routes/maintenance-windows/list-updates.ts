import { listMaintenanceUpdates } from "../../../domain/maintenance/read.ts";
import { MaintenanceUpdateList } from "../../../schemas/api/maintenance-windows.ts";
import { PathId, UpdateListQuery } from "../../../schemas/api/shared.ts";
import { route } from "../../route.ts";

export const listUpdates = route({
  method: "GET",
  path: "/maintenance-windows/:id/updates",
  scope: "maintenance:read",
  tag: "Maintenance windows",
  summary: "List a maintenance window's updates",
  description: "All of them by pages, newest first as the window itself shows them.",
  params: PathId,
  query: UpdateListQuery,
  response: MaintenanceUpdateList,
  handle: ({ params, query, actor, needs }) => listMaintenanceUpdates(needs.database, actor.organizationId, params.id, query),
});
