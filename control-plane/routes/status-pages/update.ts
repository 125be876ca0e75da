import { updateStatusPage } from "../../../domain/status-pages/update.ts";
import { PathId } from "../../../schemas/api/shared.ts";
import { UpdatedStatusPage, UpdateStatusPage } from "../../../schemas/api/status-pages.ts";
import { route } from "../../route.ts";

export const update = route({
  method: "PATCH",
  path: "/status-pages/:id",
  scope: "status_pages:write",
  tag: "Status pages",
  summary: "Change a status page",
  description: "What is left out stays; null empties a field. `is_default` true makes this the default page in place of the one that is. `warning` tells that a field was changed which the page's design holds too.",
  params: PathId,
  body: UpdateStatusPage,
  response: UpdatedStatusPage,
  failures: ["PLAN_RESTRICTED", "SLUG_TAKEN", "CONFLICT", "DEFAULT_PAGE"],
  handle: ({ params, body, actor, needs }) => updateStatusPage(needs, actor, params.id, body, new Date(needs.clock.now())),
});
