import { describe, expect, it } from "vitest";
import type { PublicMaintenance, PublicPage } from "../../../domain/status-pages/public-page.ts";
import { PAGE_LANGUAGES } from "../../../schemas/vocabulary.ts";
import { sampleId, sampleMaintenance, samplePage } from "../../../testing/sample-page.ts";
import { pageAddresses } from "../documents/addresses.ts";
import { makeCalendar } from "./calendar.ts";
import type { PageLanguage } from "../../../schemas/vocabulary.ts";

interface Given {
  maintenance?: PublicMaintenance[];
  page?: Partial<PublicPage>;
  language?: PageLanguage;
  now?: string;
}

const addresses = pageAddresses({ origin: "https://status.example.com", base: "/pages/acme", access: null });

function calendarOf({ maintenance = [], page = {}, language = "en", now = "2026-05-04T00:00:00.000Z" }: Given): string {
  return makeCalendar({ page: samplePage(page), record: { maintenance }, addresses, language, now: new Date(now) });
}

/** A calendar as a program reads it (RFC 5545 §3.1): names, with their parameters, and values of what stands around and in its events. */
function read(text: string) {
  const lines = text.replaceAll("\r\n ", "").split("\r\n");
  expect(lines.pop()).toBe("");
  const calendar: Record<string, string> = {};
  const events: Record<string, string>[] = [];
  let into: Record<string, string> | undefined;
  for (const line of lines) {
    const [, name, value] = /^([A-Z][A-Z;=-]*):(.*)$/s.exec(line) ?? [];
    if (name === undefined) throw new Error(`no content line: ${JSON.stringify(line)}`);
    if (line === "BEGIN:VCALENDAR") into = calendar;
    else if (line === "BEGIN:VEVENT") events.push((into = {}));
    else if (line === "END:VEVENT" || line === "END:VCALENDAR") into = line === "END:VEVENT" ? calendar : undefined;
    else {
      if (into === undefined || name in into) throw new Error(`misplaced: ${line}`);
      into[name] = value!.replaceAll(/\\([\\;,nN])/g, (_whole, escaped: string) => (escaped.toLowerCase() === "n" ? "\n" : escaped));
    }
  }
  return { calendar, events };
}

it("says what it is and how often to ask again", () => {
  expect(read(calendarOf({}))).toEqual({
    calendar: { VERSION: "2.0", PRODID: "-//Pharos//Status page//EN", METHOD: "PUBLISH", NAME: "Acme status", "X-WR-CALNAME": "Acme status", "REFRESH-INTERVAL;VALUE=DURATION": "PT1H", "X-PUBLISHED-TTL": "PT1H" },
    events: [],
  });
});

it("tells all of a window", () => {
  const window = sampleMaintenance({
    description: "New disks.",
    updatedAt: "2026-05-05T20:00:30.500Z",
    services: [{ id: sampleId(1), name: "Website" }, { id: sampleId(2), name: "Shop" }],
    updates: [{ id: sampleId(60), status: "in_progress", message: "It begins.\nHold tight.", createdAt: "2026-05-05T20:00:30.500Z" }],
  });
  const { events } = read(calendarOf({ maintenance: [window] }));
  expect(events).toEqual([
    {
      UID: `${window.id}@status.example.com`,
      SEQUENCE: String(4 * 86_400 + 8 * 3_600 + 30),
      DTSTAMP: "20260505T200030Z",
      "LAST-MODIFIED": "20260505T200030Z",
      CREATED: "20260501T120000Z",
      DTSTART: "20260505T200000Z",
      DTEND: "20260505T220000Z",
      SUMMARY: "Database upgrade",
      DESCRIPTION: expect.stringMatching(/^New disks\.\n\nAffects Website, Shop\n\nIn progress · .*10:00.*\nIt begins\.\nHold tight\.$/) as string,
      "URL;VALUE=URI": `https://status.example.com/pages/acme#${window.id}`,
      STATUS: "CONFIRMED",
      TRANSP: "TRANSPARENT",
    },
  ]);
});

it.each([["scheduled", "CONFIRMED"], ["in_progress", "CONFIRMED"], ["completed", "CONFIRMED"], ["cancelled", "CANCELLED"]] as const)("a window that is %s is %s", (status, expected) => {
  expect(read(calendarOf({ maintenance: [sampleMaintenance({ status })] })).events.map(({ STATUS }) => STATUS)).toEqual([expected]);
});

it("a change keeps the UID and raises the sequence", () => {
  const before = sampleMaintenance({ updatedAt: "2026-05-02T12:00:00.000Z" });
  const after = { ...before, startsAt: "2026-05-05T21:00:00.000Z", updatedAt: "2026-05-02T12:00:02.000Z" };
  const [one, other] = [before, after].map((window) => read(calendarOf({ maintenance: [window] })).events[0]!);
  expect(other!.UID).toBe(one!.UID);
  expect(Number(other!.SEQUENCE)).toBeGreaterThan(Number(one!.SEQUENCE));
  expect(Number(other!.SEQUENCE)).toBeLessThan(2 ** 31);
});

describe("a recurring window", () => {
  const starts = (rrule: string, change: Partial<PublicMaintenance> = {}, given: Given = {}) => read(calendarOf({ ...given, maintenance: [sampleMaintenance({ rrule, ...change })] })).events.map(({ DTSTART }) => DTSTART);
  const winter = { startsAt: "2026-10-19T20:00:00.000Z", endsAt: "2026-10-19T22:00:00.000Z" };

  it.each<[string, string[], Parameters<typeof starts>]>([
    ["happens again as its rule says", ["20260505T200000Z", "20260605T200000Z", "20260705T200000Z"], ["FREQ=MONTHLY;COUNT=3"]],
    ["keeps its time of day when the clocks change", ["20261019T200000Z", "20261026T210000Z"], ["FREQ=WEEKLY;COUNT=2", winter]],
    ["does so by the page's clocks", ["20261019T200000Z", "20261026T200000Z"], ["FREQ=WEEKLY;COUNT=2", winter, { page: { timezone: "Asia/Tokyo" } }]],
    ["ends with its UNTIL", ["20260505T200000Z", "20260512T200000Z"], ["FREQ=WEEKLY;UNTIL=20260515"]],
    ["is laid out for a year from now", ["20260505T200000Z", "20270505T200000Z"], ["FREQ=YEARLY", {}, { now: "2026-05-06T00:00:00.000Z" }]],
    ["and no further", ["20260505T200000Z"], ["FREQ=YEARLY", {}, { now: "2026-05-04T00:00:00.000Z" }]],
    ["leaves out what went by", ["20260505T200000Z", "20260616T200000Z", "20260623T200000Z"], ["FREQ=WEEKLY;UNTIL=20260623", {}, { now: "2026-06-14T00:00:00.000Z" }]],
    ["does not go on when it is cancelled", ["20260505T200000Z"], ["FREQ=WEEKLY", { status: "cancelled" }]],
    ["nor when it is completed, as the next is one of its own", ["20260505T200000Z"], ["FREQ=WEEKLY", { status: "completed" }]],
    ["goes on while it runs", ["20260505T200000Z", "20260506T200000Z"], ["FREQ=DAILY;COUNT=2", { status: "in_progress" }]],
  ])("%s", (_what, expected, given) => expect(starts(...given)).toEqual(expected));

  it("is told of 26 times ahead at most", () => {
    expect(starts("FREQ=DAILY")).toHaveLength(1 + 26);
  });

  it("is told of 300 times in a calendar at most, and one that gives none counts as one", () => {
    const last = sampleMaintenance({ rrule: "FREQ=DAILY;COUNT=2" });
    const laterAfter = (length: number, change: Partial<PublicMaintenance>) => {
      const before = { rrule: "FREQ=DAILY;COUNT=1", ...change };
      const maintenance = Array.from({ length }, (_, n) => sampleMaintenance({ id: sampleId(1_000 + n), ...before }));
      return calendarOf({ maintenance: [...maintenance, last] }).split("STATUS:TENTATIVE").length - 1;
    };
    expect([299, 300].map((count) => laterAfter(count, {}))).toEqual([1, 0]);
    expect(laterAfter(300, { status: "completed" })).toBe(1);
  });

  it("is laid out fast, however many there are and however long they go on already", () => {
    const begun = { startsAt: "2026-02-05T20:00:00.000Z", endsAt: "2026-02-05T21:00:00.000Z" };
    const window = { rrule: "FREQ=DAILY;COUNT=86", ...begun };
    const maintenance = Array.from({ length: 200 }, (_, n) => sampleMaintenance({ id: sampleId(n), ...window }));
    const before = process.cpuUsage();
    calendarOf({ maintenance });
    expect(process.cpuUsage(before).user / 1000).toBeLessThan(500);
  });

  it("names each occurrence, lasts as long each time, and later ones are tentative and without its updates", () => {
    const updates = [{ id: sampleId(60), status: "scheduled" as const, message: "Only today.", createdAt: "2026-05-05T20:00:00.000Z" }];
    const { events } = read(calendarOf({ maintenance: [sampleMaintenance({ rrule: "FREQ=DAILY;COUNT=2", description: "New disks.", updates })] }));
    expect(events[0]!.DESCRIPTION).toContain("Only today.");
    expect(events[1]).toMatchObject({ UID: `${sampleId(20)}-20260506T200000Z@status.example.com`, DTSTART: "20260506T200000Z", DTEND: "20260506T220000Z", STATUS: "TENTATIVE", SUMMARY: "Database upgrade", DESCRIPTION: "New disks." });
    expect(events[1]).not.toHaveProperty("RRULE");
  });
});

it.each<[string, string, string]>([
  ["a line of its own", "a\r\nEND:VEVENT\r\nX-EVIL:1", "a\nEND:VEVENT\nX-EVIL:1"],
  ["a bare carriage return", "a\rATTENDEE:b", "a\nATTENDEE:b"],
  ["an escaped line end", String.raw`a\nb`, String.raw`a\nb`],
  ["separators", "a;b,c:d\\", "a;b,c:d\\"],
  ["control characters", "a\u0000\u0007\u001B\u007Fb", "ab"],
  ["half a character", "a\uD83Db", "ab"],
  ["other line ends", "a\u0085b\u2028c\u000Bd", "a\u0085b\u2028cd"],
  ["long text that is folded", "😀ä漢".repeat(100), "😀ä漢".repeat(100)],
  ["right to left", "\u202Eتعطل", "\u202Eتعطل"],
])("%s stays text", (_what, given, shown) => {
  const text = calendarOf({ page: { name: given }, maintenance: [sampleMaintenance({ title: given, description: given, services: [{ id: sampleId(1), name: given }], updates: [{ id: sampleId(60), status: "scheduled", message: given, createdAt: "2026-05-05T20:00:00.000Z" }] })] });
  const { calendar, events } = read(text);
  expect(events).toHaveLength(1);
  expect(events[0]!.SUMMARY).toBe(shown);
  expect(events[0]!.DESCRIPTION!.startsWith(`${shown}\n\nAffects ${shown}\n\n`)).toBe(true);
  expect(events[0]!.DESCRIPTION!.endsWith(`\n${shown}`)).toBe(true);
  expect(calendar["X-WR-CALNAME"]).toBe(`${shown} status`.replaceAll(/\s+/g, " "));
  expect(Object.keys(calendar).concat(Object.keys(events[0]!)).join(" ")).not.toMatch(/EVIL|ATTENDEE/);
  for (const line of text.split("\r\n")) expect(Buffer.byteLength(line)).toBeLessThanOrEqual(75);
  expect(text.replaceAll("\r\n", "")).not.toMatch(/[\r\n]/);
});

it.each(PAGE_LANGUAGES)("can be read in %s", (language) => {
  const { events } = read(calendarOf({ language, maintenance: [sampleMaintenance({ updates: [{ id: sampleId(60), status: "cancelled", message: "Not today.", createdAt: "2026-05-05T20:00:00.000Z" }] })] }));
  expect(events[0]!.DESCRIPTION).toContain("Not today.");
});
