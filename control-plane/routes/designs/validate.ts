import { validateDraft } from "../../../domain/designs/save-draft.ts";
import { DesignDraft, DesignValidation } from "../../../schemas/api/designs.ts";
import { PathId } from "../../../schemas/api/shared.ts";
import { route } from "../../route.ts";

export const validate = route({
  method: "POST",
  path: "/status-pages/:id/design/draft/validate",
  scope: "status_pages:write",
  tag: "Designs",
  summary: "Validate a draft",
  description: "Tells what saving this draft would say, or, without a body, what is wrong with the stored draft. Nothing is saved. The plan is not looked at.",
  params: PathId,
  body: DesignDraft.optional(),
  response: DesignValidation,
  handle: ({ params, body, actor, needs }) => validateDraft(needs.database, actor.organizationId, params.id, body ?? undefined),
});
