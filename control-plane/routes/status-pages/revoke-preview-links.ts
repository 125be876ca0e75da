import { revokeLinks } from "../../../domain/status-pages/revoke-links.ts";
import { PathId, Success } from "../../../schemas/api/shared.ts";
import { route } from "../../route.ts";

export const revokePreviewLinks = route({
  method: "POST",
  path: "/status-pages/:id/preview-links/revoke",
  scope: "status_pages:write",
  tag: "Status pages",
  summary: "Revoke all links to a draft",
  description: "Ends every link to a draft of this page that was made before. Links that are made later work.",
  params: PathId,
  response: Success,
  handle: async ({ params, actor, needs }) => {
    await revokeLinks(needs.database, actor, params.id, "preview");
    return { success: true as const };
  },
});
