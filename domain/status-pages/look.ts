import { FONT_FAMILIES, SECTION_TYPES, type AnnouncementType, type BorderRadius, type FontFamily, type HeaderStyle, type PageTheme, type SectionType, type ThemeMode } from "../../schemas/vocabulary.ts";
import { DEFAULT_SECTIONS } from "../designs/compose.ts";
import type { PageSettings } from "./find-page.ts";

/** What a page looks like: its own fields, with what its design governs laid over them. */
export interface Look {
  mode: ThemeMode;
  theme: PageTheme;
  /** `#rrggbb`. */
  primary: string;
  secondary: string;
  font: FontFamily;
  radius: BorderRadius;
  header: HeaderStyle;
  logoUrl: string | null;
  faviconUrl: string | null;
  announcement: { text: string; type: AnnouncementType } | null;
  /** From top to bottom. */
  sections: SectionType[];
  /** What a switch of the page turns off, in a template too. */
  off: ReadonlySet<SectionType>;
  /** Shown instead of the sections in their order. */
  template: { html: string; css?: string } | null;
  css: string | null;
  headerHtml: string | null;
  footerHtml: string | null;
  branding: boolean;
}

/**
 * Pure: the published design, or the draft for a preview; a page that has neither follows its own fields and shows every section but the
 * metrics. A section that a switch of the page turns off is not shown, whatever the design says.
 */
export function lookOf({ page, published, draft }: Pick<PageSettings, "page" | "published" | "draft">, { preview }: { preview: boolean }): Look {
  const design = (preview ? draft : null) ?? published;
  const announcement = page.announcementEnabled && page.announcementText ? { text: page.announcementText, type: page.announcementType } : null;
  const switches = { announcement: announcement !== null, subscribe: page.showSubscribeForm, incident_history: page.showIncidentHistory, uptime_history: page.showUptimeGraph };
  const off = new Set(SECTION_TYPES.filter((type) => (switches as Partial<Record<SectionType, boolean>>)[type] === false));
  const template = design ? (design.templateMode === "custom" ? design.template : null) : page.customTemplate;
  return {
    mode: page.themeMode,
    theme: page.statusPageTheme,
    primary: design?.themeTokens.brand.primary ?? page.primaryColor,
    secondary: design?.themeTokens.brand.secondary ?? page.secondaryColor,
    font: FONT_FAMILIES.find((each) => each === design?.themeTokens.font.family) ?? page.fontFamily,
    radius: page.borderRadius,
    header: page.headerStyle,
    logoUrl: imageUrl(page.logoUrl),
    faviconUrl: imageUrl(page.faviconUrl),
    announcement,
    sections: (design?.layout.sections ?? DEFAULT_SECTIONS).flatMap(({ type, enabled }) => {
      const known = SECTION_TYPES.find((each) => each === type);
      return enabled && known !== undefined && !off.has(known) ? [known] : [];
    }),
    off,
    template,
    css: page.customCss,
    headerHtml: page.customHeaderHtml,
    footerHtml: page.customFooterHtml,
    branding: !page.hideBranding,
  };
}

/** An image's address, whatever was checked when it was saved. */
function imageUrl(url: string | null): string | null {
  return url !== null && /^https?:/i.test(url) && URL.canParse(url) ? url : null;
}
