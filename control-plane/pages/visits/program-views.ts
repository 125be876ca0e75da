import type { PageRecord, PublicPage } from "../../../domain/status-pages/public-page.ts";
import { readPageRecord, readPublicPage } from "../../../domain/status-pages/read-public-page.ts";
import { BADGE_TYPE, makeBadge } from "../forms/badge.ts";
import { CALENDAR_TYPE, makeCalendar } from "../forms/calendar.ts";
import { FEED_TYPES, makeFeed, type FeedKind } from "../forms/feed.ts";
import { makeSummary, SUMMARY_TYPE } from "../forms/summary.ts";
import type { View } from "./views.tsx";

/** Entries of a feed. */
const MOST_ENTRIES = 50;

/** A calendar keeps what is over for as long, and no more windows than this. */
const CALENDAR_PAST_MS = 90 * 86_400_000;
const MOST_WINDOWS = 200;

interface Recorded {
  page: PublicPage;
  record: PageRecord;
}

function feed(kind: FeedKind): View<Recorded> {
  return {
    path: `/feed.${kind}`,
    reads: "record",
    forPrograms: true,
    keyOf: () => "",
    async read({ queries, now }, settings) {
      const [page, record] = await Promise.all([readPublicPage(queries, settings, now), readPageRecord(queries, settings, { limit: MOST_ENTRIES })]);
      return { page, record };
    },
    draw: ({ page, record }, { absolute, language }) => ({ kind: "text", type: FEED_TYPES[kind], text: makeFeed(kind, { page, record, addresses: absolute, language }) }),
  };
}

const calendar: View<Recorded & { now: Date }> = {
  path: "/maintenance.ics",
  reads: "calendar",
  forPrograms: true,
  keyOf: () => "",
  async read({ queries, now }, settings) {
    const from = new Date(now.getTime() - CALENDAR_PAST_MS).toISOString();
    const [page, record] = await Promise.all([readPublicPage(queries, settings, now), readPageRecord(queries, settings, { from, limit: MOST_WINDOWS })]);
    return { page, record, now };
  },
  draw: ({ page, record, now }, { absolute, language }) => ({ kind: "text", type: CALENDAR_TYPE, text: makeCalendar({ page, record, addresses: absolute, language, now }) }),
};

const badge: View<PublicPage> = {
  path: "/badge.svg",
  reads: "page",
  forPrograms: true,
  keyOf: () => "",
  read: ({ queries, now }, settings) => readPublicPage(queries, settings, now),
  draw: ({ overall }, { words }) => ({ kind: "text", type: BADGE_TYPE, text: makeBadge({ label: words.badge_label, text: words[overall ?? "no_data"], status: overall }) }),
};

const summary: View<PublicPage> = {
  path: "/summary.json",
  reads: "page",
  forPrograms: true,
  keyOf: () => "",
  read: ({ queries, now }, settings) => readPublicPage(queries, settings, now),
  draw: (page, { absolute }) => ({ kind: "text", type: SUMMARY_TYPE, text: JSON.stringify(makeSummary({ page, addresses: absolute })) }),
};

/** What programs read of a page. */
export const PROGRAM_VIEWS = [feed("rss"), feed("atom"), feed("json"), calendar, badge, summary] as const;
