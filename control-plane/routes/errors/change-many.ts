import { changeErrorStatuses } from "../../../domain/errors/change-status.ts";
import { ChangeManyErrors, ManyErrorsChanged } from "../../../schemas/api/errors.ts";
import { route } from "../../route.ts";

export const changeMany = route({
  method: "PATCH",
  path: "/errors",
  scope: "monitors:write",
  tag: "Errors",
  summary: "Resolve, ignore or reopen many error signatures",
  description: "All at once. Ids that do not exist are left out and not counted.",
  body: ChangeManyErrors,
  response: ManyErrorsChanged,
  handle: async ({ body, actor, needs }) => ({ updated: await changeErrorStatuses(needs.database, actor, body, needs.clock.now()) }),
});
