import { checkDomainMonitorNow } from "../../../domain/monitors/domain/check-now.ts";
import { PathId } from "../../../schemas/api/shared.ts";
import { DomainCheck } from "../../../schemas/api/domain-monitors.ts";
import { route } from "../../route.ts";
import { lookUpOf } from "./look-up-of.ts";

export const check = route({
  method: "POST",
  path: "/domain-monitors/:id",
  scope: "monitors:write",
  tag: "Domain monitors",
  summary: "Check a domain monitor now",
  description: "Asks the registry whenever it was asked last. The look-up counts as any: it is kept in the history, and events follow from it. It may take up to two minutes, of which most are waiting for one's turn at the registry.",
  params: PathId,
  response: DomainCheck,
  commitsEarly: true,
  handle: ({ params, actor, needs }) => checkDomainMonitorNow({ database: needs.database, lookUp: lookUpOf(needs), now: () => new Date(needs.clock.now()) }, actor.organizationId, params.id),
});
