import { createSslMonitor } from "../../../domain/monitors/ssl/create.ts";
import { CreateSslMonitor, SslMonitor } from "../../../schemas/api/ssl-monitors.ts";
import { route } from "../../route.ts";
import { probeOf } from "./probe-of.ts";

export const create = route({
  method: "POST",
  path: "/ssl-monitors",
  scope: "monitors:write",
  tag: "SSL monitors",
  summary: "Create an SSL monitor",
  description: "Fetches the certificate first, which may take up to 10 s; one that is not valid is watched like any other. UNREACHABLE_DOMAIN when the name has no public address or the connection is refused, CERTIFICATE_UNAVAILABLE when there is a connection but no certificate.",
  body: CreateSslMonitor,
  response: SslMonitor,
  status: 201,
  failures: ["UNREACHABLE_DOMAIN", "CERTIFICATE_UNAVAILABLE", "PLAN_LIMIT", "NOT_FOUND"],
  commitsEarly: true,
  handle: ({ body, actor, needs }) => createSslMonitor({ database: needs.database, probe: probeOf(needs.config), now: () => new Date(needs.clock.now()) }, actor, body),
});
