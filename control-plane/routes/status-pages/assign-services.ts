import { assignServices } from "../../../domain/status-pages/assign-services.ts";
import { PathId, Success } from "../../../schemas/api/shared.ts";
import { AssignServices } from "../../../schemas/api/status-pages.ts";
import { route } from "../../route.ts";

export const assign = route({
  method: "PUT",
  path: "/status-pages/:id/services",
  scope: "status_pages:write",
  tag: "Status pages",
  summary: "Choose a status page's services",
  description: "Replaces the whole assignment; the page shows the services in the order given.",
  params: PathId,
  body: AssignServices,
  response: Success,
  failures: ["FOREIGN_SERVICE"],
  handle: async ({ params, body, actor, needs }) => {
    await assignServices(needs.database, actor, params.id, body.service_ids, new Date(needs.clock.now()));
    return { success: true as const };
  },
});
