/** Advance widths in ems, about those of Verdana and its relatives; the first class that a character is of counts. */
const ADVANCES: readonly [RegExp, number][] = [
  [/^[ijl'|!.,:;·]/, 0.33],
  [/^[\sfrtIJ()[\]/-]/, 0.42],
  [/^[mwMW@%&]/, 0.97],
  [/^(?:\p{Emoji_Presentation}|\p{Extended_Pictographic}|\p{Regional_Indicator})/u, 1.3],
  [/^(?:\p{Script=Han}|\p{Script=Hiragana}|\p{Script=Katakana}|\p{Script=Hangul}|[\u3000-\u303F\uFF00-\uFF60])/u, 1],
  [/^\p{Script=Arabic}/u, 0.55],
  [/^[\p{Lu}\p{Script=Devanagari}]/u, 0.72],
];

const OTHERWISE = 0.63;

/** Made when first needed: that takes a while, and a service shall start at once. */
let graphemes: Intl.Segmenter | undefined;

/** About how wide a text is when drawn, in the unit of `fontSize`. What combines into one character, such as accents and flags, is as wide as its first. */
export function textWidth(text: string, fontSize: number): number {
  graphemes ??= new Intl.Segmenter("en", { granularity: "grapheme" });
  let ems = 0;
  for (const { segment } of graphemes.segment(text)) ems += ADVANCES.find(([characters]) => characters.test(segment))?.[1] ?? OTHERWISE;
  return ems * fontSize;
}
