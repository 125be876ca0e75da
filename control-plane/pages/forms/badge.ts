import { html } from "../../../domain/mail/html.ts";
import type { ServiceStatus } from "../../../schemas/vocabulary.ts";
import { legalText } from "./legal-text.ts";
import { textWidth } from "./text-width.ts";

export const BADGE_TYPE = "image/svg+xml; charset=utf-8";

/** Behind white text; each gives it a contrast of WCAG's level AA. */
export const BADGE_COLORS: Record<ServiceStatus, string> = {
  operational: "#18794e",
  maintenance: "#0b68cb",
  degraded: "#946800",
  partial_outage: "#bd4b00",
  major_outage: "#ca2a30",
};

/** Behind the label, and behind the text of a page that shows no service. */
export const LABEL_COLOR = "#3b4048";
export const UNKNOWN_COLOR = "#60646c";

const FONT_SIZE = 11;
const HEIGHT = 20;
/** Where letters stand. */
const BASELINE = 14;
const PADDING = 6;

interface Badge {
  /** What the badge is of, such as "status". */
  label: string;
  /** The status in words. */
  text: string;
  /** Null when the page shows no service. */
  status: ServiceStatus | null;
}

/** A two-part badge as SVG that loads nothing: the label, and the status in its color. Pure. */
export function makeBadge({ label, text, status }: Badge): string {
  const whole = legalText(`${label}: ${text}`);
  const left = part(label);
  const right = part(text);
  const width = left.width + right.width;
  const color = status === null ? UNKNOWN_COLOR : BADGE_COLORS[status];
  // The corners are drawn, not clipped: a clip's id would clash where several badges are inlined into one document.
  return html`<svg xmlns="http://www.w3.org/2000/svg" width="${String(width)}" height="${String(HEIGHT)}" viewBox="0 0 ${String(width)} ${String(HEIGHT)}" role="img" aria-label="${whole}">
<title>${whole}</title>
<path fill="${LABEL_COLOR}" d="M3 0H${String(left.width)}V20H3a3 3 0 0 1-3-3V3a3 3 0 0 1 3-3Z"/>
<path fill="${color}" d="M${String(left.width)} 0H${String(width - 3)}a3 3 0 0 1 3 3V17a3 3 0 0 1-3 3H${String(left.width)}Z"/>
<g fill="#ffffff" font-family="Verdana,Geneva,'DejaVu Sans',sans-serif" font-size="${String(FONT_SIZE)}" text-anchor="middle">
${left.draw(0)}
${right.draw(left.width)}
</g>
</svg>
`.html;
}

/** One half: its width in whole pixels and its text, which fills it whatever font draws it. */
function part(given: string) {
  const text = legalText(given).trim();
  const length = Math.max(1, Math.round(textWidth(text, FONT_SIZE)));
  const width = length + 2 * PADDING;
  return {
    width,
    draw: (x: number) => html`<text x="${String(x + width / 2)}" y="${String(BASELINE)}" textLength="${String(length)}" lengthAdjust="spacingAndGlyphs">${text}</text>`,
  };
}
