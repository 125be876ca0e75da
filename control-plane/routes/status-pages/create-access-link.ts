import { makeAccessLink } from "../../../domain/status-pages/access-link.ts";
import { PathId } from "../../../schemas/api/shared.ts";
import { AccessLink, CreateAccessLink } from "../../../schemas/api/status-pages.ts";
import { publicUrl } from "../../../platform/public-url.ts";
import { route } from "../../route.ts";

export const createAccessLink = route({
  method: "POST",
  path: "/status-pages/:id/access-links",
  scope: "status_pages:write",
  tag: "Status pages",
  summary: "Make a link to a private page",
  description: "Whoever has the link sees the page until the link ends or all of the page's are revoked. Only private pages are opened this way.",
  params: PathId,
  body: CreateAccessLink,
  response: AccessLink,
  status: 201,
  handle: ({ params, body, actor, needs }) =>
    makeAccessLink(needs.database, actor, params.id, { expiresInSeconds: body.expires_in_seconds, publicUrl: publicUrl(needs.config), at: new Date(needs.clock.now()) }),
});
