import { publishDesign } from "../../../domain/designs/publish.ts";
import { PublishDesign, PublishedDesign } from "../../../schemas/api/designs.ts";
import { PathId } from "../../../schemas/api/shared.ts";
import { route } from "../../route.ts";

export const publish = route({
  method: "POST",
  path: "/status-pages/:id/design/publish",
  scope: "status_pages:write",
  tag: "Designs",
  summary: "Publish a status page's draft",
  description:
    "All at once: the draft becomes the published version, the one before it is archived, and the page takes over the design's colors, font and, in mode `custom`, template. 409 `DRAFT_MISMATCH` when the draft is another one; 404 when there is no draft, also because it is published already.",
  params: PathId,
  body: PublishDesign,
  response: PublishedDesign,
  failures: ["INVALID_DESIGN", "PLAN_RESTRICTED", "DRAFT_MISMATCH"],
  handle: ({ params, body, actor, needs }) => publishDesign(needs.database, actor, params.id, body.expected_draft_version_id, new Date(needs.clock.now())),
});
