import { createStatusPage } from "../../../domain/status-pages/create.ts";
import { CreateStatusPage, StatusPageAnswer } from "../../../schemas/api/status-pages.ts";
import { route } from "../../route.ts";

export const create = route({
  method: "POST",
  path: "/status-pages",
  scope: "status_pages:write",
  tag: "Status pages",
  summary: "Create a status page",
  description: "Without a slug one is made from the name. The first page of an organization is its default page. The page shows no services until they are assigned.",
  body: CreateStatusPage,
  response: StatusPageAnswer,
  status: 201,
  failures: ["PLAN_LIMIT", "PLAN_RESTRICTED", "SLUG_TAKEN", "CONFLICT"],
  handle: async ({ body, actor, needs }) => ({ page: await createStatusPage(needs, actor, body, new Date(needs.clock.now())) }),
});
