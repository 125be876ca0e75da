import { createDomainMonitor } from "../../../domain/monitors/domain/create.ts";
import { CreateDomainMonitor, DomainMonitor } from "../../../schemas/api/domain-monitors.ts";
import { route } from "../../route.ts";

export const create = route({
  method: "POST",
  path: "/domain-monitors",
  scope: "monitors:write",
  tag: "Domain monitors",
  summary: "Create a domain monitor",
  description: "It is looked up within seconds, and then once a day; until then `status` and `registration` are null.",
  body: CreateDomainMonitor,
  response: DomainMonitor,
  status: 201,
  failures: ["PLAN_LIMIT", "NOT_FOUND"],
  handle: ({ body, actor, needs }) => createDomainMonitor(needs.database, actor, body, new Date(needs.clock.now())),
});
