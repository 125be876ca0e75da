import { getStatusPage } from "../../../domain/status-pages/read.ts";
import { PathId } from "../../../schemas/api/shared.ts";
import { StatusPageAnswer } from "../../../schemas/api/status-pages.ts";
import { route } from "../../route.ts";

export const get = route({
  method: "GET",
  path: "/status-pages/:id",
  scope: "status_pages:read",
  tag: "Status pages",
  summary: "Get a status page",
  params: PathId,
  response: StatusPageAnswer,
  handle: async ({ params, actor, needs }) => ({ page: await getStatusPage(needs.database, actor.organizationId, params.id) }),
});
