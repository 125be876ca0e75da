/** A moment as people write it, with the name of its timezone: `31 January 2026, 13:00 (Europe/Berlin)`. A name that this machine does not know is read as UTC. */
export function momentIn(at: Date, timezone: string): string {
  try {
    return `${formatIn(at, timezone)} (${timezone})`;
  } catch (error) {
    if (error instanceof RangeError && !Number.isNaN(at.getTime())) return `${formatIn(at, "UTC")} (UTC)`;
    throw error;
  }
}

function formatIn(at: Date, timeZone: string): string {
  const parts = new Intl.DateTimeFormat("en-GB", { timeZone, day: "numeric", month: "long", year: "numeric", hour: "2-digit", minute: "2-digit", hourCycle: "h23" }).formatToParts(at);
  const part = (type: Intl.DateTimeFormatPartTypes): string => parts.find((each) => each.type === type)?.value ?? "";
  return `${part("day")} ${part("month")} ${part("year")}, ${part("hour")}:${part("minute")}`;
}
