import { expect, it } from "vitest";
import { contrastRatio } from "../../../domain/designs/contrast.ts";
import type { Look } from "../../../domain/status-pages/look.ts";
import { PAGE_THEMES, type PageTheme } from "../../../schemas/vocabulary.ts";
import { pageStyle, readStyleSheets } from "./style.ts";

const sheets = await readStyleSheets();

const LOOK: Omit<Look, "theme" | "mode" | "primary" | "secondary"> = {
  font: "system",
  radius: "md",
  header: "left",
  logoUrl: null,
  faviconUrl: null,
  announcement: null,
  sections: [],
  off: new Set(),
  template: null,
  css: null,
  headerHtml: null,
  footerHtml: null,
  branding: true,
};

const style = (change: Partial<Look>) => pageStyle(sheets, { ...LOOK, theme: "classic", mode: "light", primary: "#2563eb", secondary: "#1e293b", ...change });

/** The last value of each custom property, as it holds in a page of one mode on a screen. */
function propertiesOf(theme: PageTheme, mode: "light" | "dark", color: string): Map<string, string> {
  const found = new Map([...style({ theme, mode, primary: color, secondary: color }).matchAll(/--([\w-]+):([^;}]+)/g)].map(([, name, value]) => [name!, value!]));
  for (const [name, value] of found) found.set(name, value.replace(/^var\(--([\w-]+)\)$/, (_text, other: string) => found.get(other)!));
  return found;
}

const BRANDS = ["#ffff00", "#ffffff", "#000000", "#ff0000", "#7f7f7f", "#2563eb"];
const LOOKS = PAGE_THEMES.flatMap((theme) => (["light", "dark"] as const).map((mode) => ({ theme, mode, least: theme === "high_contrast" ? 7 : 4.5 })));

it.each(LOOKS)("whatever the brand, what theme $theme says in $mode can be read where it stands", ({ theme, mode, least }) => {
  for (const brand of BRANDS) {
    const of = propertiesOf(theme, mode, brand);
    const contrast = (name: string, ground: string) => contrastRatio(of.get(name)!, of.get(ground)!);
    for (const ground of ["ground", "surface"]) {
      for (const name of ["text", "quiet", "link", "heading", "operational", "maintenance", "degraded", "partial_outage", "major_outage"]) {
        expect(contrast(name, ground), `${name} on ${ground} with ${brand}`).toBeGreaterThanOrEqual(least);
      }
    }
    expect(contrast("on-brand", "brand"), `a button of ${brand}`).toBeGreaterThanOrEqual(least);
  }
});

it("dark colors are for screens alone: paper is white", () => {
  expect(style({ mode: "dark" })).toContain("@media screen{:root{color-scheme:dark");
  expect(style({ mode: "system" })).toContain("@media screen and (prefers-color-scheme:dark){:root{color-scheme:dark");
  expect(style({ mode: "light" })).not.toContain("color-scheme:dark");
});

it("an owner's CSS is written as a browser reads it, so that the policy's hash is of what it has read", () => {
  expect(style({ css: "a{}\r\nb{}\rc{}\n", template: { html: "", css: "d{}\r" } })).toMatch(/\nd\{\}\n\na\{\}\nb\{\}\nc\{\}\n$/);
  expect(style({ css: "a::after{content:'\0'}" })).toMatch(/a::after\{content:'\uFFFD'\}$/);
});

it("an owner's CSS comes last, and is left out whole when anything in it is unsafe", () => {
  expect(style({ css: ".own { color: red }" })).toMatch(/\n\.own \{ color: red \}$/);
  expect(style({ css: ".own { color: red } @import 'https://example.com/a.css';" })).toBe(style({}));
  expect(style({ css: ".own { color: red } /*" })).toBe(style({}));
});
