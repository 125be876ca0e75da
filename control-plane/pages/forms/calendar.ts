import { cutWhole } from "../../../domain/cut-whole.ts";
import { ICalCalendar, ICalCalendarMethod, ICalEventStatus, ICalEventTransparency, type ICalEventData } from "ical-generator";
import { nextOccurrence } from "../../../domain/maintenance/next-occurrence.ts";
import type { PageRecord, PublicMaintenance, PublicPage } from "../../../domain/status-pages/public-page.ts";
import type { MaintenanceStatus, PageLanguage } from "../../../schemas/vocabulary.ts";
import type { PageAddresses } from "../documents/addresses.ts";
import { fillIn, pageMessages } from "../messages/all.ts";
import { legalText } from "./legal-text.ts";
import { affectedServices, capitalWord, maintenanceAddress, momentFormat } from "../documents/words.ts";

export const CALENDAR_TYPE = "text/calendar; charset=utf-8";

/** How often a calendar asks again. */
const REFRESH_SECONDS = 3_600;

/** How far ahead of now a recurring window is laid out, and how often at most. */
const AHEAD_MS = 365 * 86_400_000;
const MOST_OCCURRENCES = 26;

/**
 * Over the whole calendar: occurrences, a rule that gives none being one, and characters of descriptions.
 * Folding lines takes a microsecond a character, and all others wait.
 */
const MOST_REPEATED = 300;
const MOST_CHARACTERS = 50_000;

const STATUS: Record<MaintenanceStatus, ICalEventStatus> = {
  scheduled: ICalEventStatus.CONFIRMED,
  in_progress: ICalEventStatus.CONFIRMED,
  completed: ICalEventStatus.CONFIRMED,
  cancelled: ICalEventStatus.CANCELLED,
};

interface Scheduled {
  page: PublicPage;
  /** All of its maintenance is told. */
  record: Pick<PageRecord, "maintenance">;
  /** With their origin. */
  addresses: PageAddresses;
  language: PageLanguage;
  now: Date;
}

interface Occurrence {
  startsAt: Date;
  endsAt: Date;
}

/** A page's maintenance as iCalendar (RFC 5545) to subscribe to, its times in UTC. Pure. */
export function makeCalendar({ page, record, addresses, language, now }: Scheduled): string {
  const calendar = new ICalCalendar({
    prodId: { company: "Pharos", product: "Status page", language },
    method: ICalCalendarMethod.PUBLISH,
    // The package escapes the texts of events, but not this one.
    name: escaped(fillIn(pageMessages(language).title, { page: page.name })),
    ttl: REFRESH_SECONDS,
  });
  const { host } = new URL(addresses.home);
  const tell = makeDescriptions(language, page.timezone);
  let left = MOST_CHARACTERS;
  let repeated = 0;
  const describe = (window: PublicMaintenance) => {
    const text = cutWhole(tell(window), left);
    left -= text.length;
    return text;
  };
  for (const window of record.maintenance) {
    const what = whatOf(window, addresses);
    calendar.createEvent({ ...what, description: describe(window), start: window.startsAt, end: window.endsAt, id: `${window.id}@${host}`, status: STATUS[window.status] });
    if (!goesOn(window) || repeated >= MOST_REPEATED) continue;
    const occurrences = occurrencesAfter(window, page.timezone, now);
    repeated += Math.max(1, occurrences.length);
    // Each has its own times instead of one rule for all: in UTC a rule would move against the clocks that the window goes by.
    for (const { startsAt, endsAt } of occurrences) {
      // Updates are about the occurrence that they were written for.
      calendar.createEvent({ ...what, description: describe({ ...window, updates: [] }), start: startsAt, end: endsAt, id: `${window.id}-${compact(startsAt)}@${host}`, status: ICalEventStatus.TENTATIVE });
    }
  }
  return `${calendar.toString()}\r\n`;
}

/** What all occurrences of a window have in common. */
function whatOf({ id, title, createdAt, updatedAt }: PublicMaintenance, addresses: PageAddresses): Omit<ICalEventData, "start"> {
  return {
    summary: calendarText(title),
    url: maintenanceAddress(addresses, id),
    created: createdAt,
    stamp: updatedAt,
    lastModified: updatedAt,
    // A change has a later time than the one before, and an integer of iCalendar has 31 bits: too few for milliseconds, or for seconds since 1970.
    sequence: Math.max(0, Math.floor((Date.parse(updatedAt) - Date.parse(createdAt)) / 1_000)),
    // Whoever subscribes is not busy because a service is.
    transparency: ICalEventTransparency.TRANSPARENT,
  };
}

function makeDescriptions(language: PageLanguage, timezone: string): (window: PublicMaintenance) => string {
  const format = momentFormat(language, timezone);
  return ({ description, services, updates }) => {
    const told = updates.map(({ status, message, createdAt }) => `${capitalWord(status, language)} · ${format.format(new Date(createdAt))}\n${message}`);
    const paragraphs = [description, affectedServices(services, language) ?? "", ...told];
    return calendarText(paragraphs.filter((paragraph) => paragraph !== "").join("\n\n"));
  };
}

/** Whether it is a recurring window that is not over. */
function goesOn(window: PublicMaintenance): window is PublicMaintenance & { rrule: string } {
  return window.rrule !== null && window.status !== "completed" && window.status !== "cancelled";
}

/** When such a window happens again; tentative, because each occurrence is announced only when the one before it is over. */
function occurrencesAfter({ startsAt, endsAt, rrule }: PublicMaintenance & { rrule: string }, timezone: string, now: Date): Occurrence[] {
  const last = new Date(now.getTime() + AHEAD_MS);
  const found: Occurrence[] = [];
  let next = nextOccurrence({ startsAt: new Date(startsAt), endsAt: new Date(endsAt), rrule }, timezone, now, last);
  while (next !== null && found.length < MOST_OCCURRENCES) {
    found.push(next);
    next = nextOccurrence(next, timezone, now, last);
  }
  return found;
}

/** `20260505T200000Z`. */
function compact(moment: Date): string {
  return moment.toISOString().replaceAll(/[-:]|\.\d+/g, "");
}

/** What a TEXT value may hold (RFC 5545 §3.3.11); line ends are the package's to escape. */
function calendarText(text: string): string {
  return legalText(text).replaceAll("\u007F", "");
}

/** On one line, and escaped as a TEXT value. */
function escaped(text: string): string {
  return calendarText(text).replaceAll(/\s+/g, " ").replaceAll(/[\\;,]/g, String.raw`\$&`);
}
