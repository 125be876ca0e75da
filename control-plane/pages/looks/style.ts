import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { findUnsafeCss } from "../../../domain/designs/check-css.ts";
import { normalColor } from "../../../domain/designs/contrast.ts";
import { inkOn, readableOn } from "../../../domain/designs/readable-color.ts";
import type { Look } from "../../../domain/status-pages/look.ts";
import { remember } from "../../../platform/remember.ts";
import { PROJECT_ROOT } from "../../../platform/root.ts";
import type { BorderRadius, PageTheme } from "../../../schemas/vocabulary.ts";
import { asHtmlReads } from "../../../schemas/html-text.ts";
import { fontStyle } from "./fonts.ts";

/** The style sheets as they are shipped, without comments and needless blanks. */
export interface StyleSheets {
  page: string;
  dark: string;
  themes: Record<PageTheme, { light: string; dark: string }>;
}

export async function readStyleSheets(): Promise<StyleSheets> {
  const read = async (name: string) => squeeze(await readFile(join(PROJECT_ROOT, "control-plane/pages/looks/styles", `${name}.css`), "utf8"));
  const [page, dark, classic, minimal, compact, highContrast, highContrastDark] = await Promise.all(["page", "dark", "classic", "minimal", "compact", "high-contrast", "high-contrast-dark"].map(read));
  return {
    page: page!,
    dark: dark!,
    themes: {
      classic: { light: classic!, dark: "" },
      minimal: { light: minimal!, dark: "" },
      compact: { light: compact!, dark: "" },
      high_contrast: { light: highContrast!, dark: highContrastDark! },
    },
  };
}

/** A page is drawn again and again, and its owner's CSS, up to 64 KiB of it, stays. */
const isSafeCss = remember((css) => findUnsafeCss(css).length === 0, 200);

/** For our own sheets, which hold neither texts with comment marks nor blanks that matter between these signs. */
function squeeze(css: string): string {
  return css.replaceAll(/\/\*.*?\*\//gs, "").replaceAll(/\s+/g, " ").replaceAll(/ ?([{};,]) ?/g, "$1").replaceAll(": ", ":").replaceAll(";}", "}").trim();
}

/** Of the plain pages that belong to no organization. */
export function plainStyle({ page, dark }: StyleSheets): string {
  return `${page}@media screen and (prefers-color-scheme:dark){${dark}}`;
}

const RADII: Record<BorderRadius, string> = { none: "0", sm: "0.25rem", md: "0.5rem", lg: "1rem", full: "1.5rem" };

/** WCAG 2.2: 1.4.3 and, for the theme made for it, 1.4.6. */
const CONTRAST: Record<PageTheme, number> = { classic: 4.5, minimal: 4.5, compact: 4.5, high_contrast: 7 };

/** A dark color made just readable on a dark ground looks switched off. */
const DARK_CONTRAST = { link: 7, heading: 10 };

/** Where links and headings stand; the darkest light and the lightest dark ground of the theme, as in its sheets. */
const GROUNDS: Record<PageTheme, { light: string; dark: string }> = {
  classic: { light: "#fafafa", dark: "#1a1d20" },
  minimal: { light: "#fafafa", dark: "#1a1d20" },
  compact: { light: "#fafafa", dark: "#1a1d20" },
  high_contrast: { light: "#ffffff", dark: "#000000" },
};

/**
 * What the style element of a page holds: the theme with the brand's colors, font and corners, and the CSS of the page's owner, which is
 * left out whole when it is unsafe, whatever was checked when it was saved. As a browser reads it, so that its hash is the browser's. Pure.
 */
export function pageStyle(sheets: StyleSheets, look: Look): string {
  const { mode, theme, primary, secondary, font, radius } = look;
  const [brand, second] = [normalColor(primary) ?? "#2563eb", normalColor(secondary) ?? "#1e293b"];
  // Black or white stands on any color at 4.5:1; for more it is made darker or lighter.
  const ink = inkOn(brand);
  const filled = readableOn(brand, ink, CONTRAST[theme]);
  const { stack, faces } = fontStyle(font);
  const themed = sheets.themes[theme];
  const colors = (ground: string, contrast: { link: number; heading: number }) => `:root{--brand:${filled};--on-brand:${ink};--link:${readableOn(brand, ground, contrast.link)};--heading:${readableOn(second, ground, contrast.heading)}}`;
  const dark = `${sheets.dark}${themed.dark}${colors(GROUNDS[theme].dark, DARK_CONTRAST)}`;
  const own = [look.template?.css, look.css].flatMap((css) => (css ? [asHtmlReads(css)] : [])).filter(isSafeCss);
  return [
    faces,
    sheets.page,
    themed.light,
    colors(GROUNDS[theme].light, { link: CONTRAST[theme], heading: CONTRAST[theme] }),
    // Paper is white.
    mode === "light" ? "" : `@media screen${mode === "dark" ? "" : " and (prefers-color-scheme:dark)"}{${dark}}`,
    `:root{--font:${stack};--radius:${RADII[radius]}}`,
    ...own,
  ].join("\n");
}

/** As a source of a Content-Security-Policy. */
export function hashSource(text: string): string {
  return `'sha256-${createHash("sha256").update(text).digest("base64")}'`;
}
