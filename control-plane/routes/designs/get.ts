import { getPageDesign } from "../../../domain/designs/read.ts";
import { PageDesign } from "../../../schemas/api/designs.ts";
import { PathId } from "../../../schemas/api/shared.ts";
import { route } from "../../route.ts";

export const get = route({
  method: "GET",
  path: "/status-pages/:id/design",
  scope: "status_pages:read",
  tag: "Designs",
  summary: "Get a status page's design",
  description: "The published version and the draft, each null when there is none. `effective_design` is the published one, else the draft.",
  params: PathId,
  response: PageDesign,
  handle: ({ params, actor, needs }) => getPageDesign(needs.database, actor.organizationId, params.id),
});
