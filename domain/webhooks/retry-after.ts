/** Longer waits are not granted anyway; what cannot be a date must not become one. */
const LONGEST_S = 30 * 24 * 60 * 60;

const SECONDS = /^\d+$/;
/** As HTTP writes it, and as it was written before: of the three forms only asctime's does not say that it is GMT (RFC 9110 §5.6.7). */
const HTTP_DATE = /^(?:[A-Z][a-z]+, \d{2}[ -][A-Z][a-z]{2}[ -]\d{2,4} \d{2}:\d{2}:\d{2} GMT|[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d \d{2}:\d{2}:\d{2} \d{4})$/;

/** The moment that a `Retry-After` header names (RFC 9110 §10.2.3), by its seconds after `at` or its date. Null for anything else. */
export function readRetryAfter(header: string | string[] | undefined, at: Date): Date | null {
  const text = (Array.isArray(header) ? header[0] : header)?.trim() ?? "";
  if (SECONDS.test(text)) return new Date(at.getTime() + Math.min(Number(text), LONGEST_S) * 1_000);
  if (!HTTP_DATE.test(text)) return null;
  const moment = new Date(text.endsWith("GMT") ? text : `${text} GMT`);
  return Number.isNaN(moment.getTime()) ? null : moment;
}
