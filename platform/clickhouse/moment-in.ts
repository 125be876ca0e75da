/**
 * Milliseconds since the epoch of `YYYY-MM-DD`, or `YYYY-MM-DD HH:MM:SS` with up to three decimals, in UTC (`T` and a `Z` are
 * taken too); NaN for anything else. Read by hand: every row has some, and `Date.parse` takes ten times as long.
 */
export function momentIn(text: string): number {
  const { length } = text;
  const end = text.charCodeAt(length - 1) === 90 ? length - 1 : length;
  const days = daysOf(digits(text, 0, 4), digits(text, 5, 7), digits(text, 8, 10));
  if (text[4] !== "-" || text[7] !== "-") return Number.NaN;
  if (length === 10) return days * 86_400_000;
  const separated = (text[10] === " " || text[10] === "T") && text[13] === ":" && text[16] === ":";
  const hours = digits(text, 11, 13);
  const minutes = digits(text, 14, 16);
  const seconds = digits(text, 17, 19);
  if (!separated || hours > 23 || minutes > 59 || seconds > 59) return Number.NaN;
  return ((days * 24 + hours) * 60 + minutes) * 60_000 + seconds * 1000 + decimals(text, end);
}

/** The milliseconds behind the seconds. */
function decimals(text: string, end: number): number {
  if (end === 19) return 0;
  return text[19] === "." && end > 20 && end <= 23 ? digits(text, 20, end) * 10 ** (23 - end) : Number.NaN;
}

function digits(text: string, from: number, to: number): number {
  let value = 0;
  for (let at = from; at < to; at++) {
    const digit = text.charCodeAt(at) - 48;
    if (!(digit >= 0 && digit <= 9)) return Number.NaN;
    value = value * 10 + digit;
  }
  return value;
}

const DAYS_OF_MONTH = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

/** Days since the epoch (H. Hinnant, "chrono-compatible low-level date algorithms": days_from_civil); NaN for a day that is none. */
function daysOf(year: number, month: number, day: number): number {
  const leap = month === 2 && year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
  if (!(day >= 1 && day <= DAYS_OF_MONTH[month - 1]! + (leap ? 1 : 0))) return Number.NaN;
  const y = month <= 2 ? year - 1 : year;
  const era = Math.floor(y / 400);
  const yearOfEra = y - era * 400;
  const dayOfYear = Math.floor((153 * (month + (month > 2 ? -3 : 9)) + 2) / 5) + day - 1;
  return era * 146_097 + yearOfEra * 365 + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100) + dayOfYear - 719_468;
}
