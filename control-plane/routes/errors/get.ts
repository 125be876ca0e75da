import { getError } from "../../../domain/errors/get.ts";
import { ErrorDetail } from "../../../schemas/api/errors.ts";
import { PathId } from "../../../schemas/api/shared.ts";
import { route } from "../../route.ts";

export const get = route({
  method: "GET",
  path: "/errors/:id",
  scope: "monitors:read",
  tag: "Errors",
  summary: "Get an error signature",
  description: "With its frames, why its events are one, its latest event, its releases and its last 24 hours.",
  params: PathId,
  response: ErrorDetail,
  failures: ["UNAVAILABLE"],
  handle: ({ params, actor, needs }) => getError(needs, actor.organizationId, params.id, needs.clock.now()),
});
