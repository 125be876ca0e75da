const MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];

/** Hours ahead of UTC of the zones that registries write by name. */
const ZONES: Record<string, number> = { utc: 0, gmt: 0, z: 0, jst: 9, kst: 9, msk: 3, cet: 1, cest: 2, eet: 2, eest: 3, clt: -4, clst: -3, hkt: 8, cst: 8 };

type Part = "y" | "m" | "d" | "M";

/** The shapes of dates, each with the meaning of its groups; day first where only numbers tell, as registries write it. */
const SHAPES: readonly (readonly [RegExp, readonly Part[]])[] = [
  [/^(\d{4})[-/.]\s?(\d{1,2})[-/.]\s?(\d{1,2})\.?(?!\d)/, ["y", "m", "d"]],
  [/^(\d{4})(\d{2})(\d{2})(?!\d)/, ["y", "m", "d"]],
  [/^(\d{4})[- ]([a-z]{3})[a-z]*[- ](\d{1,2})\.?(?!\d)/i, ["y", "M", "d"]],
  [/^(\d{1,2})[-/.]\s?(\d{1,2})[-/.]\s?(\d{4})(?!\d)/, ["d", "m", "y"]],
  [/^(?:[a-z]{3},? )?(\d{1,2})(?:st|nd|rd|th)?[-/. ]([a-z]{3})[a-z]*[-/., ]+(\d{4})(?!\d)/i, ["d", "M", "y"]],
  [/^(?:[a-z]{3},? )?([a-z]{3})[a-z]*\.? +(\d{1,2})(?:st|nd|rd|th)?,? +(\d{4})(?!\d)/i, ["M", "d", "y"]],
  // Mon May  1 12:00:00 UTC 2026
  [/^[a-z]{3} ([a-z]{3}) +(\d{1,2}) (?=\d{2}:\d{2}:\d{2})(?:\S+ )(?:[a-z]+ )?(\d{4})$/i, ["M", "d", "y"]],
  // before Aug-1996
  [/^(?:before )?([a-z]{3})[a-z]*[- ](\d{4})$/i, ["M", "y"]],
];

const TIME = /(\d{1,2}):(\d{2})(?::(\d{2}))?(?:\.\d+)?\s*\(?\s*(?:utc|gmt)?\s*([+-]\d{1,2}(?::?\d{2})?|[a-z]{1,4}(?![a-z]))?/i;

/** A date as registries write them, `2026-05-01T00:00:00Z`, `01-May-2026`, `1.5.2026 10:00:00`, `20260501`, as ISO 8601 in UTC; without a zone it counts as UTC. Null when it is none. */
export function parseRegistryDate(text: string): string | null {
  const trimmed = text.trim().slice(0, 60);
  for (const [shape, parts] of SHAPES) {
    const match = shape.exec(trimmed);
    if (!match) continue;
    const of = (...wanted: Part[]) => match[parts.findIndex((part) => wanted.includes(part)) + 1];
    const month = parts.includes("M") ? MONTHS.indexOf(of("M")!.toLowerCase()) : Number(of("m")) - 1;
    const day = parts.includes("d") ? Number(of("d")) : 1;
    // The hour of a shape that holds one lies within the match itself.
    const { hour, minute, second, ahead } = timeOf(trimmed.slice(match[0].length)) ?? timeOf(match[0].includes(":") ? match[0] : "") ?? { hour: 0, minute: 0, second: 0, ahead: 0 };
    return toIso([Number(of("y")), month, day], [hour, minute, second], ahead);
  }
  return null;
}

function timeOf(text: string): { hour: number; minute: number; second: number; ahead: number } | null {
  const match = TIME.exec(text);
  return match && { hour: Number(match[1]), minute: Number(match[2]), second: Number(match[3] ?? 0), ahead: aheadOf(match[4] ?? "") };
}

/** Hours that a zone is ahead of UTC. */
function aheadOf(zone: string): number {
  const offset = /^([+-])(\d{1,2}):?(\d{2})?$/.exec(zone);
  if (!offset) return ZONES[zone.toLowerCase()] ?? 0;
  return (offset[1] === "-" ? -1 : 1) * (Number(offset[2]) + Number(offset[3] ?? 0) / 60);
}

function toIso([year, month, day]: [number, number, number], [hour, minute, second]: [number, number, number], ahead: number): string | null {
  const date = new Date(Date.UTC(year, month, day, hour, minute, second));
  // 31 February would become a day in March.
  if (month < 0 || date.getUTCMonth() !== month || date.getUTCDate() !== day || year < 1970) return null;
  return new Date(date.getTime() - ahead * 3_600_000).toISOString();
}
