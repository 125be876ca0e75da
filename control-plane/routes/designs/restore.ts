import { restoreVersion } from "../../../domain/designs/restore.ts";
import { DesignVersionPath, DraftAnswer } from "../../../schemas/api/designs.ts";
import { route } from "../../route.ts";

export const restore = route({
  method: "POST",
  path: "/status-pages/:id/design/versions/:versionId/restore",
  scope: "status_pages:write",
  tag: "Designs",
  summary: "Restore a design version",
  description: "Copies the version into the draft, replacing what stands there; the version becomes the draft's base and stays as it is. Publish the draft to show it.",
  params: DesignVersionPath,
  response: DraftAnswer,
  failures: ["PLAN_RESTRICTED"],
  handle: async ({ params, actor, needs }) => ({ draft_version: await restoreVersion(needs.database, actor, params.id, params.versionId, new Date(needs.clock.now())) }),
});
