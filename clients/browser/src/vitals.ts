import { INTERACTION_MS, INTERACTIONS_FORGIVEN_OF, SHIFT_GAP_MS, SHIFTS_MS } from "./limits.ts";
import { guarded, options } from "./page.ts";

/** Fields of several kinds of entries. */
interface Entry extends PerformanceEntry {
  value: number;
  hadRecentInput: boolean;
  interactionId?: number;
  responseStart?: number;
}

/** Vitals that are a moment, by the name or the type of their entry. */
const MOMENTS: Record<string, string> = { navigation: "TTFB", "largest-contentful-paint": "LCP", "first-contentful-paint": "FCP" };

const found: Record<string, number> = {};
/** The longest duration of each interaction. */
const interactions: Record<number, number> = {};
let shifts = 0;
let firstShift = 0;
let lastShift = 0;
let observer: PerformanceObserver | undefined;

/** Begins to measure what web.dev defines: FCP, LCP, TTFB and INP in milliseconds, CLS as a score. A page that was opened hidden has none. */
export function watchVitals(): void {
  if (options!.vitals === false || document.visibilityState === "hidden") return;
  observer = new PerformanceObserver(guarded((list) => list.getEntries().forEach(read)));
  for (const type of ["navigation", "paint", "largest-contentful-paint", "layout-shift", "event", "first-input"]) {
    observer.observe({ type, buffered: true, durationThreshold: INTERACTION_MS } as PerformanceObserverInit);
  }
}

/** Ends measuring, which happens when the page is first hidden: what comes later is no experience of its loading. */
export function takeVitals(): [name: string, value: number][] {
  if (!observer) return [];
  observer.takeRecords().forEach(read);
  observer.disconnect();
  observer = undefined;
  const slowest = Object.values(interactions).sort((one, other) => other - one);
  const { interactionCount = 0 } = performance as { interactionCount?: number };
  if (slowest.length) found.INP = slowest[Math.min(slowest.length - 1, Math.floor(interactionCount / INTERACTIONS_FORGIVEN_OF))]!;
  return Object.entries(found);
}

function read(entry: PerformanceEntry): void {
  const { entryType, name, startTime, duration, value, hadRecentInput, interactionId, responseStart } = entry as Entry;
  const vital = MOMENTS[name] ?? MOMENTS[entryType];
  if (vital) found[vital] = responseStart ?? startTime;
  if (vital === "FCP") found.CLS ??= 0;
  if (interactionId) interactions[interactionId] = Math.max(interactions[interactionId] ?? 0, duration);
  if (value && !hadRecentInput) {
    if (startTime - lastShift > SHIFT_GAP_MS || startTime - firstShift > SHIFTS_MS) {
      shifts = 0;
      firstShift = startTime;
    }
    lastShift = startTime;
    shifts += value;
    found.CLS = Math.max(found.CLS ?? 0, shifts);
  }
}
