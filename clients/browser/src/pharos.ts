import { attempt, warn } from "./attempt.ts";
import { note, recordBreadcrumbs } from "./breadcrumbs.ts";
import type { Breadcrumb, CaptureDetails } from "./event.ts";
import { LATER_MS, LONGEST_MESSAGE } from "./limits.ts";
import type { PharosOptions, PharosUser, Tag } from "./options.ts";
import { guarded, listen, options, setOptions } from "./page.ts";
import { adopt, comeBack, openQueue, setGone, store } from "./queue.ts";
import { factsOf, report, reportSome } from "./report.ts";
import { schedule, send, sendBeacons, stopSending } from "./transport.ts";
import { takeVitals, watchVitals } from "./vitals.ts";
import { watchErrors } from "./watch-errors.ts";

export type { Breadcrumb, CaptureDetails, ErrorFacts, PharosEvent } from "./event.ts";
export type { PharosOptions, PharosUser, Tag } from "./options.ts";

/** Starts reporting. Like every function here it never throws, and before it none of them does anything. A second call is ignored, with a warning, until `close`. */
export const init = (given: PharosOptions): void =>
  attempt(() => {
    if (options || !given.key || !given.url) return warn("init: key and url, once");
    if (given.respectDoNotTrack && (navigator.doNotTrack === "1" || (navigator as { globalPrivacyControl?: boolean }).globalPrivacyControl)) return;
    setOptions(given);
    openQueue();
    if (!watching) watch();
    watching = true;
  });

/** Whether the page has our listeners: they stay, without effect after `close`. */
let watching = false;

function watch(): void {
  watchErrors();
  if ((options!.breadcrumbs ?? 1) > 0) recordBreadcrumbs();
  watchLife();
  // What takes time and is not needed at once. The page before this one may still be writing what it leaves.
  setTimeout(guarded(watchVitals));
  setTimeout(guarded(takeOver), LATER_MS);
}

function takeOver(): void {
  schedule();
  adopt();
}

/** What the page may not live to send itself is given to the browser, and all of it stored. */
function watchLife(): void {
  const hide = () => {
    for (const [name, value] of takeVitals()) report({ type: "vital", name, value });
    sendBeacons();
    store();
  };
  listen("visibilitychange", () => (document.visibilityState === "hidden" ? hide() : takeOver()));
  listen("pagehide", () => {
    setGone(true);
    hide();
  });
  listen("pageshow", (event) => {
    setGone(false);
    if ((event as PageTransitionEvent).persisted) comeBack();
  });
  listen("online", send);
}

/** Reports anything that was thrown. Returns the event's id, or undefined when it is not sent. */
export const captureError: (thrown: unknown, details?: CaptureDetails) => string | undefined = guarded((thrown: unknown, details?: CaptureDetails) => reportSome(() => factsOf(thrown, "Error", details)));

/** Reports a text. `level` is `info` when absent. Returns the event's id, or undefined when it is not sent. */
export const captureMessage: (text: string, level?: string) => string | undefined = guarded((text: unknown, level = "info") => reportSome(() => ({ type: "message", message: String(text).slice(0, LONGEST_MESSAGE), level })));

/** Notes something that the next events tell as having come before them. */
export const addBreadcrumb: (breadcrumb: Breadcrumb) => void = guarded(note);

/** Who is using the page from now on; null for nobody. Only `id` is sent on. */
export const setUser: (user: PharosUser | null) => void = guarded((user: PharosUser | null) => {
  options!.user = user;
});

/** A tag of every event from now on; null takes it away. */
export const setTag: (name: string, value: Tag) => void = guarded((name: string, value: Tag) => {
  options!.tags[name] = value;
});

/** Sends now what waits. Resolves to whether all of it was answered; what was not is kept and tried again. */
export const flush: () => Promise<boolean> = async () => (await guarded(send)()) ?? true;

/** Ends reporting. What waits is kept for the next page. */
export const close: () => void = guarded(() => {
  stopSending();
  setGone(true);
  store();
  setOptions(null);
});
