import type { Moment } from "../../../domain/status-pages/public-page.ts";
import { momentOf, wallOf } from "../../../platform/wall-time.ts";

/** Whether a text is a month as `YYYY-MM`, from 2000 to 2199. */
export function isMonth(text: string): boolean {
  return /^2[01]\d\d-(?:0[1-9]|1[0-2])$/.test(text);
}

/** The month of a moment by the clocks of a time zone (IANA name). */
export function monthOf(moment: Date, timezone: string): string {
  return wallOf(moment, timezone).toISOString().slice(0, 7);
}

/** A month and those before it, latest first. */
export function monthsUntil(last: string, count: number): string[] {
  return Array.from({ length: count }, (_, back) => monthAfter(last, -back));
}

/** The month that lies some months after another; before it when negative. */
export function monthAfter(month: string, by: number): string {
  return new Date(Date.UTC(Number(month.slice(0, 4)), Number(month.slice(5)) - 1 + by, 1)).toISOString().slice(0, 7);
}

/** When a month begins by the clocks of a time zone. */
export function startOfMonth(month: string, timezone: string): Moment {
  return momentOf(new Date(`${month}-01T00:00:00Z`), timezone).toISOString();
}
