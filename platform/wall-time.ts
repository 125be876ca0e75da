const DAY_MS = 86_400_000;

const formats = new Map<string, Intl.DateTimeFormat>();

/** What the clocks show at a moment in a time zone (IANA name), written as if they showed UTC; to the second. */
export function wallOf(moment: Date, timezone: string): Date {
  let format = formats.get(timezone);
  if (!format) {
    format = new Intl.DateTimeFormat("en-US", { timeZone: timezone, calendar: "gregory", numberingSystem: "latn", hourCycle: "h23", year: "numeric", month: "numeric", day: "numeric", hour: "numeric", minute: "numeric", second: "numeric" });
    formats.set(timezone, format);
  }
  const part = Object.fromEntries(format.formatToParts(moment).map(({ type, value }) => [type, Number(value)])) as Record<"year" | "month" | "day" | "hour" | "minute" | "second", number>;
  return new Date(Date.UTC(part.year, part.month - 1, part.day, part.hour, part.minute, part.second));
}

/** The moment at which the clocks of a time zone show it: a time that they skip moves by the gap, one that they show twice is the first. */
export function momentOf(wall: Date, timezone: string): Date {
  const offsetAt = (moment: number) => wallOf(new Date(moment), timezone).getTime() - moment;
  const [before, after] = [offsetAt(wall.getTime() - DAY_MS), offsetAt(wall.getTime() + DAY_MS)];
  // With the offset from before a change, a skipped time moves by the gap and one that is shown twice is the first.
  const first = wall.getTime() - before;
  return new Date(offsetAt(first) === before || offsetAt(wall.getTime() - after) !== after ? first : wall.getTime() - after);
}
