import { changeErrorStatus } from "../../../domain/errors/change-status.ts";
import { ChangeErrorStatus, ErrorDetail } from "../../../schemas/api/errors.ts";
import { PathId } from "../../../schemas/api/shared.ts";
import { route } from "../../route.ts";

export const changeStatus = route({
  method: "PATCH",
  path: "/errors/:id",
  scope: "monitors:write",
  tag: "Errors",
  summary: "Resolve, ignore or reopen an error signature",
  description:
    "A resolved signature becomes `regressed` by an event that happened after its resolution and, with `resolved_in_release`, in a release that comes after that one " +
    "(by Semantic Versioning, else by which was first seen later). An ignored one stays ignored, or until one of its conditions is met; then it is `new` again.",
  params: PathId,
  body: ChangeErrorStatus,
  response: ErrorDetail,
  failures: ["UNAVAILABLE"],
  handle: ({ params, body, actor, needs }) => changeErrorStatus(needs, actor, params.id, { ...body, now: needs.clock.now() }),
});
