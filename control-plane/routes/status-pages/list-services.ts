import { getStatusPage, listAssignedServices } from "../../../domain/status-pages/read.ts";
import { PathId } from "../../../schemas/api/shared.ts";
import { AssignedServiceList } from "../../../schemas/api/status-pages.ts";
import { route } from "../../route.ts";

export const listServices = route({
  method: "GET",
  path: "/status-pages/:id/services",
  scope: "status_pages:read",
  tag: "Status pages",
  summary: "List a status page's services",
  description: "In the order in which the page shows them.",
  params: PathId,
  response: AssignedServiceList,
  handle: async ({ params, actor, needs }) => {
    const page = await getStatusPage(needs.database, actor.organizationId, params.id);
    return { services: await listAssignedServices(needs.database, page.id) };
  },
});
