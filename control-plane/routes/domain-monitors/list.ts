import { listDomainMonitors } from "../../../domain/monitors/domain/read.ts";
import { DomainMonitorList, DomainMonitorListQuery } from "../../../schemas/api/domain-monitors.ts";
import { route } from "../../route.ts";

export const list = route({
  method: "GET",
  path: "/domain-monitors",
  scope: "monitors:read",
  tag: "Domain monitors",
  summary: "List Domain monitors",
  description: "Newest first.",
  query: DomainMonitorListQuery,
  response: DomainMonitorList,
  handle: async ({ query, actor, needs }) => ({ domain_monitors: await listDomainMonitors(needs.database, actor.organizationId, query) }),
});
