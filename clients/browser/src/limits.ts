// In a file that imports nothing, so that the bundler writes each number where it is used.

/** Characters of a message; the service keeps 8 KiB. */
export const LONGEST_MESSAGE = 8_192;
export const MAX_FRAMES = 100;
export const MAX_CAUSES = 5;
/** Characters of an event as JSON; a longer one goes without what is only helpful, and with so much of its stack. */
export const LONGEST_EVENT = 50_000;
export const LONGEST_STACK = 20_000;

export const MAX_BREADCRUMBS = 100;
/** Characters of a breadcrumb as JSON; a longer one goes without its data. */
export const LONGEST_BREADCRUMB = 1_000;
export const LONGEST_BREADCRUMB_MESSAGE = 300;

/** Of errors that are alike only so many are sent within a window, and of all only so many within a minute. */
export const MOST_ALIKE = 10;
export const ALIKE_MS = 5_000;
export const MOST_A_MINUTE = 100;
export const MINUTE_MS = 60_000;

/** Without anything to report for so long, a session is over. */
export const SESSION_IDLE_MS = 1_800_000;

export const MAX_WARNINGS = 10;

/** What waits: in memory and in localStorage. */
export const MOST_WAITING = 100;
export const MOST_WAITING_CHARACTERS = 200_000;
export const DAY_MS = 86_400_000;
/** An event that may have arrived is sent again only while the service surely remembers its id, which it does for an hour. */
export const REMEMBERED_MS = 3_000_000;
/** How long a page's stored events are left to it after it last wrote them. */
export const LEASE_MS = 120_000;

/** Bytes of a body's events: below the 64 KiB that a page may have under way in beacons and in requests that outlive it. */
export const MOST_BODY_BYTES = 60_000;
/** Events that come together go together. */
export const GATHER_MS = 100;
export const FIRST_WAIT_MS = 1_000;
export const LONGEST_WAIT_MS = 60_000;
export const LONGEST_RETRY_AFTER_MS = 3_600_000;
export const REQUEST_TIMEOUT_MS = 30_000;
/** Until what other pages have left is taken over. */
export const LATER_MS = 1_000;

/** A layout shift joins the ones before when it comes within a second of the last and five of the first (web.dev). */
export const SHIFT_GAP_MS = 1_000;
export const SHIFTS_MS = 5_000;
/** One slow interaction in so many is forgiven (web.dev). */
export const INTERACTIONS_FORGIVEN_OF = 50;
/** Shorter interactions are not looked at one by one. */
export const INTERACTION_MS = 40;
