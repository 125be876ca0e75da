import type { Design, DesignDraft } from "../../schemas/api/designs.ts";
import type { designVersions, statusPages } from "../../schemas/tables/all.ts";
import { SECTION_TYPES } from "../../schemas/vocabulary.ts";
import { normalColor } from "./contrast.ts";

export type PageRow = typeof statusPages.$inferSelect;
export type VersionRow = typeof designVersions.$inferSelect;

/** A version's content as its row holds it. */
export type Content = Pick<VersionRow, "themeTokens" | "layout" | "template" | "templateMode" | "summary" | "baseVersionId">;

interface Sources {
  page: Pick<PageRow, "primaryColor" | "secondaryColor" | "fontFamily" | "customTemplate">;
  draft: VersionRow | null;
  published: VersionRow | null;
}

/** All sections but the metrics, which not everybody wants to show the world. */
export const DEFAULT_SECTIONS = SECTION_TYPES.map((type) => ({ type, enabled: type !== "metrics" }));

/**
 * Pure: what a draft holds after `change`. What is left out keeps the draft's value, else the published version's, else
 * the page's own (its colors, font and template) and all sections. A new draft has no summary and, as its base, the
 * published version: these tell of a version, not of its looks.
 */
export function composeDraft(change: DesignDraft, { page, draft, published }: Sources): Content {
  const kept = draft ?? published;
  const { theme_tokens: tokens, layout, template, template_mode: mode, summary, base_version_id: base } = change;
  return {
    themeTokens: tokens
      ? { ...tokens, brand: { primary: stored(tokens.brand.primary), secondary: stored(tokens.brand.secondary) } }
      : (kept?.themeTokens ?? { brand: { primary: page.primaryColor, secondary: page.secondaryColor }, font: { family: page.fontFamily } }),
    layout: layout ?? kept?.layout ?? { sections: DEFAULT_SECTIONS },
    template: template === undefined ? (kept ? kept.template : page.customTemplate) : template,
    templateMode: mode ?? kept?.templateMode ?? (page.customTemplate ? "custom" : "default"),
    summary: summary === undefined ? (draft?.summary ?? null) : summary,
    baseVersionId: base === undefined ? (draft ? draft.baseVersionId : (published?.id ?? null)) : (base?.toLowerCase() ?? null),
  };
}

/** What of a row can be seen on the page. */
export function designOf({ themeTokens, layout, template, templateMode }: Content): Design {
  return { theme_tokens: themeTokens, layout, template, template_mode: templateMode } as Design;
}

/** What is no color stays as it is, for the issue that says so. */
function stored(color: string): string {
  return normalColor(color) ?? color;
}
