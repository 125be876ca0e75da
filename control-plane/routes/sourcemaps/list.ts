import { listSourceMaps } from "../../../domain/source-maps/list.ts";
import { SourceMapList, SourceMapListQuery } from "../../../schemas/api/source-maps.ts";
import { route } from "../../route.ts";

export const list = route({
  method: "GET",
  path: "/sourcemaps",
  scope: "monitors:read",
  tag: "Source maps",
  summary: "List source maps",
  description: "Latest upload first.",
  query: SourceMapListQuery,
  response: SourceMapList,
  handle: async ({ query, actor, needs }) => ({ sourcemaps: await listSourceMaps(needs.database, actor.organizationId, query) }),
});
