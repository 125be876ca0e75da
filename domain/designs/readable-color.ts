import { contrastRatio } from "./contrast.ts";

/** So many steps lie between a color and black or white. */
const STEPS = 32;

/**
 * The color, made darker or lighter just so far that it can be read on a background: as near to the brand's own as WCAG allows.
 * Pure; all as `#rrggbb`, `ratio` as of `contrastRatio`.
 */
export function readableOn(color: string, background: string, ratio: number): string {
  const toward = contrastRatio("#000000", background) > contrastRatio("#ffffff", background) ? 0 : 255;
  for (let step = 0; step < STEPS; step++) {
    const mixed = mix(color, toward, step / STEPS);
    if (contrastRatio(mixed, background) >= ratio) return mixed;
  }
  return toward === 0 ? "#000000" : "#ffffff";
}

/** Black or white, whichever is read better on a color. */
export function inkOn(color: string): string {
  return contrastRatio("#ffffff", color) >= contrastRatio("#000000", color) ? "#ffffff" : "#000000";
}

function mix(color: string, toward: number, share: number): string {
  const channels = [1, 3, 5].map((at) => {
    const own = Number.parseInt(color.slice(at, at + 2), 16);
    return Math.round(own + (toward - own) * share).toString(16).padStart(2, "0");
  });
  return `#${channels.join("")}`;
}
