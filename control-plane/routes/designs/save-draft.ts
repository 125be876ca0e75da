import { saveDraft } from "../../../domain/designs/save-draft.ts";
import { DesignDraft, SavedDraft } from "../../../schemas/api/designs.ts";
import { PathId } from "../../../schemas/api/shared.ts";
import { route } from "../../route.ts";

export const save = route({
  method: "PUT",
  path: "/status-pages/:id/design/draft",
  scope: "status_pages:write",
  tag: "Designs",
  summary: "Make or change a status page's draft",
  description:
    "What is left out keeps the draft's value, else the published version's, else the page's own colors, font and template and all sections but `metrics`. A new draft has no summary and the published version as its base. " +
    "The public page does not change. A design with errors is refused with all of them in `issues`; warnings are answered beside the draft. A custom template needs the pro plan, one that is kept too.",
  params: PathId,
  body: DesignDraft,
  response: SavedDraft,
  failures: ["INVALID_DESIGN", "PLAN_RESTRICTED"],
  handle: ({ params, body, actor, needs }) => saveDraft(needs.database, actor, params.id, body, new Date(needs.clock.now())),
});
