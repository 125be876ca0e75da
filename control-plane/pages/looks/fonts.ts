import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import type { FontFamily } from "../../../schemas/vocabulary.ts";

/** A file of a font: what the page calls it, where its package keeps it, and which characters and weights it has. */
interface FontFile {
  name: string;
  source: string;
  weight: string;
  characters: string;
}

/** Of Western and Central European languages; other scripts come from the visitor's own fonts. Ranges as Google Fonts divides them. */
const LATIN = "U+0000-00FF,U+0131,U+0152-0153,U+02BB-02BC,U+02C6,U+02DA,U+02DC,U+0304,U+0308,U+0329,U+2000-206F,U+20AC,U+2122,U+2191,U+2193,U+2212,U+2215,U+FEFF,U+FFFD";
const LATIN_EXTENDED = "U+0100-02BA,U+02BD-02C5,U+02C7-02CC,U+02CE-02D7,U+02DD-02FF,U+0304,U+0308,U+0329,U+1D00-1DBF,U+1E00-1E9F,U+1EF2-1EFF,U+2020,U+20A0-20AB,U+20AD-20C0,U+2113,U+2C60-2C7F,U+A720-A7FF";

const variable = (font: string): FontFile[] => [
  { name: `${font}-latin.woff2`, source: `@fontsource-variable/${font}/files/${font}-latin-wght-normal.woff2`, weight: "100 900", characters: LATIN },
  { name: `${font}-latin-ext.woff2`, source: `@fontsource-variable/${font}/files/${font}-latin-ext-wght-normal.woff2`, weight: "100 900", characters: LATIN_EXTENDED },
];

const lato: FontFile[] = ["400", "700"].flatMap((weight) => [
  { name: `lato-latin-${weight}.woff2`, source: `@fontsource/lato/files/lato-latin-${weight}-normal.woff2`, weight, characters: LATIN },
  { name: `lato-latin-ext-${weight}.woff2`, source: `@fontsource/lato/files/lato-latin-ext-${weight}-normal.woff2`, weight, characters: LATIN_EXTENDED },
]);

/** Fonts that Pharos ships: pages ask nobody else for them. */
const SHIPPED: Partial<Record<FontFamily, { title: string; files: FontFile[] }>> = {
  inter: { title: "Inter", files: variable("inter") },
  roboto: { title: "Roboto", files: variable("roboto") },
  open_sans: { title: "Open Sans", files: variable("open-sans") },
  lato: { title: "Lato", files: lato },
};

const SANS = 'system-ui, -apple-system, "Segoe UI", Roboto, sans-serif';

const OWN: Partial<Record<FontFamily, string>> = {
  georgia: 'Georgia, "Times New Roman", serif',
  mono: 'ui-monospace, SFMono-Regular, Menlo, Consolas, "Liberation Mono", monospace',
};

/** The value of `font-family`, and the rules that load what is shipped. */
export function fontStyle(family: FontFamily): { stack: string; faces: string } {
  const shipped = SHIPPED[family];
  if (!shipped) return { stack: OWN[family] ?? SANS, faces: "" };
  const faces = shipped.files.map(
    ({ name, weight, characters }) => `@font-face{font-family:"${shipped.title}";font-weight:${weight};font-display:swap;src:url(/assets/fonts/${name}) format("woff2");unicode-range:${characters}}`,
  );
  return { stack: `"${shipped.title}", ${SANS}`, faces: faces.join("") };
}

/** The shipped files by their name. */
export async function readFonts(): Promise<Map<string, Buffer>> {
  const { resolve } = createRequire(import.meta.url);
  const files = Object.values(SHIPPED).flatMap(({ files }) => files);
  return new Map(await Promise.all(files.map(async ({ name, source }): Promise<[string, Buffer]> => [name, await readFile(resolve(source))])));
}
