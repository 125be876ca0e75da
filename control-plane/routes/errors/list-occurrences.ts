import { listOccurrences } from "../../../domain/errors/list-occurrences.ts";
import { OccurrenceList, OccurrenceListQuery } from "../../../schemas/api/errors.ts";
import { PathId } from "../../../schemas/api/shared.ts";
import { route } from "../../route.ts";

export const occurrences = route({
  method: "GET",
  path: "/errors/:id/occurrences",
  scope: "monitors:read",
  tag: "Errors",
  summary: "List the events of an error signature",
  description: "Latest received first.",
  params: PathId,
  query: OccurrenceListQuery,
  response: OccurrenceList,
  failures: ["UNAVAILABLE"],
  handle: ({ params, query, actor, needs }) => listOccurrences(needs, actor.organizationId, params.id, query),
});
