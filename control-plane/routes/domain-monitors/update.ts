import { updateDomainMonitor } from "../../../domain/monitors/domain/update.ts";
import { PathId } from "../../../schemas/api/shared.ts";
import { DomainMonitor, UpdateDomainMonitor } from "../../../schemas/api/domain-monitors.ts";
import { route } from "../../route.ts";

export const update = route({
  method: "PATCH",
  path: "/domain-monitors/:id",
  scope: "monitors:write",
  tag: "Domain monitors",
  summary: "Change a domain monitor",
  params: PathId,
  body: UpdateDomainMonitor,
  response: DomainMonitor,
  handle: ({ params, body, actor, needs }) => updateDomainMonitor(needs.database, actor, params.id, body, new Date(needs.clock.now())),
});
