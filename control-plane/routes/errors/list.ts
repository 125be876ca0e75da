import { listErrors } from "../../../domain/errors/list.ts";
import { ErrorList, ErrorListQuery } from "../../../schemas/api/errors.ts";
import { route } from "../../route.ts";

export const list = route({
  method: "GET",
  path: "/errors",
  scope: "monitors:read",
  tag: "Errors",
  summary: "List error signatures",
  description: "Last seen first. Filters by release, environment and date match signatures with any event there; counts stay totals.",
  query: ErrorListQuery,
  response: ErrorList,
  failures: ["UNAVAILABLE"],
  handle: ({ query, actor, needs }) => listErrors(needs, actor.organizationId, query, needs.clock.now()),
});
