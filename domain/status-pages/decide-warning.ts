import type { UpdateStatusPage } from "../../schemas/api/status-pages.ts";
import type { StatusPageRow } from "./columns.ts";

/** Fields that a design version holds too (conventions §3). */
const OF_THE_DESIGN = ["primary_color", "secondary_color", "font_family", "custom_template"] as const satisfies (keyof UpdateStatusPage)[];

/** Pure: a sentence when a change touches what the page's design governs, so that both drift apart; else null. */
export function decideWarning(patch: UpdateStatusPage, { currentVersionId, draftVersionId }: Pick<StatusPageRow, "currentVersionId" | "draftVersionId">): string | null {
  const touched = OF_THE_DESIGN.filter((field) => patch[field] !== undefined);
  if (touched.length === 0 || (currentVersionId === null && draftVersionId === null)) return null;
  const design = currentVersionId === null ? "a draft design" : "a published design";
  return `This page has ${design}, which also holds ${touched.join(", ")}; the design was not changed, so the two may differ. Change such fields with PUT /status-pages/{id}/design/draft and publish.`;
}
