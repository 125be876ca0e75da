import type { CronFieldCollection } from "cron-parser";

const DAY_MS = 86_400_000;
/** Within these years each weekday has met each date, the leap day too. */
const [FIRST_YEAR, YEARS] = [2000, 28];

/**
 * Whether an expression has a day in every year. It only compares dates: stepping an expression that never comes due through the years takes a parser
 * a tenth of a second.
 */
export function comesDueYearly(fields: CronFieldCollection): boolean {
  return Array.from({ length: YEARS }, (_, n) => FIRST_YEAR + n).every((year) => hasYear(fields, year));
}

function hasYear(fields: CronFieldCollection, year: number): boolean {
  for (let day = Date.UTC(year, 0, 1); day < Date.UTC(year + 1, 0, 1); day += DAY_MS) if (hasDay(fields, new Date(day))) return true;
  return false;
}

/** As cron does: where both are restricted, the day of the month or the weekday must fit. */
function hasDay({ month, dayOfMonth, dayOfWeek }: CronFieldCollection, date: Date): boolean {
  if (!(month.values as readonly number[]).includes(date.getUTCMonth() + 1)) return false;
  const [inMonth, weekday] = [date.getUTCDate(), date.getUTCDay()];
  const daysOfMonth = new Date(Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 0)).getUTCDate();
  const fitsMonth = (dayOfMonth.values as readonly unknown[]).includes(inMonth) || (dayOfMonth.hasLastChar && inMonth === daysOfMonth);
  if (dayOfWeek.isWildcard) return fitsMonth;
  const isNth = dayOfWeek.nthDay <= 0 || Math.ceil(inMonth / 7) === dayOfWeek.nthDay;
  const isLast = dayOfWeek.hasLastChar && inMonth > daysOfMonth - 7 && dayOfWeek.values.some((value) => Number.parseInt(String(value), 10) % 7 === weekday);
  const fitsWeek = ((dayOfWeek.values as readonly unknown[]).includes(weekday) && isNth) || isLast;
  return dayOfMonth.isWildcard ? fitsWeek : fitsMonth || fitsWeek;
}
