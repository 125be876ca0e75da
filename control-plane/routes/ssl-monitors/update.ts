import { updateSslMonitor } from "../../../domain/monitors/ssl/update.ts";
import { PathId } from "../../../schemas/api/shared.ts";
import { SslMonitor, UpdateSslMonitor } from "../../../schemas/api/ssl-monitors.ts";
import { route } from "../../route.ts";

export const update = route({
  method: "PATCH",
  path: "/ssl-monitors/:id",
  scope: "monitors:write",
  tag: "SSL monitors",
  summary: "Change an SSL monitor",
  params: PathId,
  body: UpdateSslMonitor,
  response: SslMonitor,
  handle: ({ params, body, actor, needs }) => updateSslMonitor(needs.database, actor, params.id, body, new Date(needs.clock.now())),
});
