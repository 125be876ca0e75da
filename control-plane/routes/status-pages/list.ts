import { listStatusPages } from "../../../domain/status-pages/read.ts";
import { StatusPageList } from "../../../schemas/api/status-pages.ts";
import { route } from "../../route.ts";

export const list = route({
  method: "GET",
  path: "/status-pages",
  scope: "status_pages:read",
  tag: "Status pages",
  summary: "List status pages",
  description: "The default page first, then the newest.",
  response: StatusPageList,
  handle: async ({ actor, needs }) => ({ pages: await listStatusPages(needs.database, actor.organizationId) }),
});
