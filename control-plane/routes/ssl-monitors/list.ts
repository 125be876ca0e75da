import { listSslMonitors } from "../../../domain/monitors/ssl/read.ts";
import { SslMonitorList, SslMonitorListQuery } from "../../../schemas/api/ssl-monitors.ts";
import { route } from "../../route.ts";

export const list = route({
  method: "GET",
  path: "/ssl-monitors",
  scope: "monitors:read",
  tag: "SSL monitors",
  summary: "List SSL monitors",
  description: "Newest first.",
  query: SslMonitorListQuery,
  response: SslMonitorList,
  handle: async ({ query, actor, needs }) => ({ ssl_monitors: await listSslMonitors(needs.database, actor.organizationId, query) }),
});
