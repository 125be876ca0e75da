import { listReleases } from "../../../domain/releases/read.ts";
import { ReleaseList, ReleaseListQuery } from "../../../schemas/api/releases.ts";
import { route } from "../../route.ts";

export const list = route({
  method: "GET",
  path: "/releases",
  scope: "monitors:read",
  tag: "Releases",
  summary: "List releases",
  description: "Newest first.",
  query: ReleaseListQuery,
  response: ReleaseList,
  handle: async ({ query, actor, needs }) => ({ releases: await listReleases(needs.database, actor.organizationId, query) }),
});
