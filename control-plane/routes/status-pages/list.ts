import { listStatusPages } from "../../../domain/status-pages/read.ts";
import { StatusPageList, StatusPageListQuery } from "../../../schemas/api/status-pages.ts";
import { route } from "../../route.ts";

export const list = route({
  method: "GET",
  path: "/status-pages",
  scope: "status_pages:read",
  tag: "Status pages",
  summary: "List status pages",
  description: "Newest first; `is_default` tells which one is the default page.",
  query: StatusPageListQuery,
  response: StatusPageList,
  handle: async ({ actor, query, needs }) => ({ pages: await listStatusPages(needs.database, actor.organizationId, query) }),
});
