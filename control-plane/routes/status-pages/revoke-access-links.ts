import { revokeLinks } from "../../../domain/status-pages/revoke-links.ts";
import { PathId, Success } from "../../../schemas/api/shared.ts";
import { route } from "../../route.ts";

export const revokeAccessLinks = route({
  method: "POST",
  path: "/status-pages/:id/access-links/revoke",
  scope: "status_pages:write",
  tag: "Status pages",
  summary: "Revoke all links to a private page",
  description: "Ends every link that was made before, and the sessions of visitors who gave the page's password. Links that are made later work. Making a page private and changing its password do the same, for links to drafts too.",
  params: PathId,
  response: Success,
  handle: async ({ params, actor, needs }) => {
    await revokeLinks(needs.database, actor, params.id, "access");
    return { success: true as const };
  },
});
