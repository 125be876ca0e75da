import { getDesignVersion } from "../../../domain/designs/read.ts";
import { DesignVersionAnswer, DesignVersionPath } from "../../../schemas/api/designs.ts";
import { route } from "../../route.ts";

export const getVersion = route({
  method: "GET",
  path: "/status-pages/:id/design/versions/:versionId",
  scope: "status_pages:read",
  tag: "Designs",
  summary: "Get a design version",
  params: DesignVersionPath,
  response: DesignVersionAnswer,
  handle: async ({ params, actor, needs }) => ({ version: await getDesignVersion(needs.database, actor.organizationId, params.id, params.versionId) }),
});
