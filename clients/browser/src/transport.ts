import { warn } from "./attempt.ts";
import { FIRST_WAIT_MS, GATHER_MS, LONGEST_RETRY_AFTER_MS, LONGEST_WAIT_MS, REQUEST_TIMEOUT_MS } from "./limits.ts";
import { options } from "./page.ts";
import { batch, remove, store, type Waiting } from "./queue.ts";

/** Trying again would not help. */
const REFUSED = /^4(?!08|29)/;

let timer = 0;
let failures = 0;
let running: Promise<boolean> | null = null;

/** The browser's own, from before we note its calls. */
const request = globalThis.fetch;

const address = () => `${options!.url!.replace(/\/+$/, "")}/api/beacon`;

/** Sends soon, unless a failure is being waited out. */
export function schedule(ms: number = GATHER_MS): void {
  if (options && !timer) timer = window.setTimeout(send, ms);
}

export function stopSending(): void {
  clearTimeout(timer);
  timer = 0;
}

/** Sends now all that waits. Resolves to whether everything was answered. */
export function send(): Promise<boolean> {
  stopSending();
  running ||= sendAll().finally(() => (running = null));
  return running;
}

/** An event leaves the queue by an answer and by nothing else. */
async function sendAll(): Promise<boolean> {
  let first: Waiting[] = [];
  let retryAfter = 0;
  try {
    for (let events = batch(); events.length; events = batch()) {
      first = events.filter(({ sent }) => !sent);
      for (const event of first) event.sent = Date.now();
      // Should the page end now, whoever takes over knows that they may have arrived.
      store();
      // A retry does without keepalive: that its quota was exceeded looks like any other failure.
      const answer = await request(address(), { method: "POST", body: bodyOf(events), keepalive: !failures, signal: AbortSignal.timeout?.(REQUEST_TIMEOUT_MS) });
      const { status } = answer;
      // To its end, for so long it counts as under way.
      const text = await answer.text();
      if (status !== 202) {
        retryAfter = Number(answer.headers.get("Retry-After"));
        if (!REFUSED.test(`${status}`)) throw status;
      }
      // All of them, or some, each with its path in the body.
      if (status !== 202 || text.includes('"path"')) warn(text);
      failures = 0;
      remove(events);
    }
    store();
    return true;
  } catch {
    for (const event of first) event.sent = 0;
    store();
    schedule(Math.max(Math.min(FIRST_WAIT_MS * 2 ** failures++, LONGEST_WAIT_MS) * (0.5 + Math.random() / 2), Math.min(retryAfter * 1_000, LONGEST_RETRY_AFTER_MS) || 0));
    return false;
  }
}

/** Gives the browser what was not sent yet, for the page may end: these answers will never be known. What fails now is kept as surely not sent, and so for longer. */
export function sendBeacons(): void {
  if (failures || !navigator.onLine) return;
  for (let events = batch(true); events.length && navigator.sendBeacon(address(), bodyOf(events)); events = batch(true)) {
    for (const event of events) event.sent = Date.now();
    remove(events.filter(({ vital }) => vital));
  }
}

function bodyOf(events: Waiting[]): string {
  return `${events[0]!.envelope.slice(0, -1)},"events":[${events.map(({ event }) => event).join()}]}`;
}
