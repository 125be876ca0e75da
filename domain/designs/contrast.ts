/** The contrast that WCAG 2.2 asks for at level AA for text of ordinary size (success criterion 1.4.3). */
export const AA_CONTRAST = 4.5;

/** The color as `#rrggbb` in lower case, or null when it is neither `#rgb` nor `#rrggbb`. */
export function normalColor(text: string): string | null {
  if (/^#[0-9a-f]{6}$/i.test(text)) return text.toLowerCase();
  return /^#[0-9a-f]{3}$/i.test(text) ? text.toLowerCase().replace(/[0-9a-f]/g, "$&$&") : null;
}

/** The contrast ratio of two colors as `#rrggbb`, from 1 to 21 (WCAG 2.2, "contrast ratio"). */
export function contrastRatio(one: string, other: string): number {
  const [a, b] = [relativeLuminance(one), relativeLuminance(other)];
  return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
}

/** WCAG 2.2, "relative luminance" of sRGB. */
function relativeLuminance(color: string): number {
  const [red, green, blue] = [1, 3, 5].map((at) => linear(Number.parseInt(color.slice(at, at + 2), 16) / 255));
  return 0.2126 * red! + 0.7152 * green! + 0.0722 * blue!;
}

function linear(channel: number): number {
  return channel <= 0.04045 ? channel / 12.92 : ((channel + 0.055) / 1.055) ** 2.4;
}
