import { makePreviewLink } from "../../../domain/designs/preview-link.ts";
import { publicUrl } from "../../../platform/public-url.ts";
import { CreatePreviewLink, PreviewLink } from "../../../schemas/api/designs.ts";
import { PathId } from "../../../schemas/api/shared.ts";
import { route } from "../../route.ts";

export const createPreviewLink = route({
  method: "POST",
  path: "/status-pages/:id/design/preview-links",
  scope: "status_pages:write",
  tag: "Designs",
  summary: "Make a link to a draft",
  description: "Whoever has the link sees the page as its draft would show it, whatever the page's visibility, until the link ends or all of the page's are revoked. Later changes of the draft are seen too; once the draft is published, so is what was published. 404 when there is no draft.",
  params: PathId,
  body: CreatePreviewLink,
  response: PreviewLink,
  status: 201,
  handle: ({ params, body, actor, needs }) =>
    makePreviewLink(needs.database, actor, params.id, { expiresInSeconds: body.expires_in_seconds, publicUrl: publicUrl(needs.config), at: new Date(needs.clock.now()) }),
});
