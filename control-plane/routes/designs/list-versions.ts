import { listDesignVersions } from "../../../domain/designs/read.ts";
import { DesignVersionList, DesignVersionListQuery } from "../../../schemas/api/designs.ts";
import { PathId } from "../../../schemas/api/shared.ts";
import { route } from "../../route.ts";

export const listVersions = route({
  method: "GET",
  path: "/status-pages/:id/design/versions",
  scope: "status_pages:read",
  tag: "Designs",
  summary: "List a status page's design versions",
  description: "The highest version_number first, without their content. Pages stay the same while versions are added.",
  params: PathId,
  query: DesignVersionListQuery,
  response: DesignVersionList,
  handle: ({ params, query, actor, needs }) => listDesignVersions(needs.database, actor.organizationId, params.id, query),
});
