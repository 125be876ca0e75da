import { ALIKE_MS, MINUTE_MS, MOST_A_MINUTE, MOST_ALIKE } from "./limits.ts";

/** How many events of a kind came in this window. */
const alike = new Map<string, number>();
let windowBegan = 0;
let minuteBegan = 0;
let inMinute = 0;
/** Kept back since an event was let through. */
let suppressed = 0;

/** Whether this minute has had its events; counts one that then does not come. Asked first, since reading a stack takes longer than anything else. */
export function isMinuteFull(): unknown {
  const now = performance.now();
  if (now - minuteBegan > MINUTE_MS) {
    minuteBegan = now;
    inMinute = 0;
  }
  if (now - windowBegan > ALIKE_MS) {
    windowBegan = now;
    alike.clear();
  }
  return inMinute >= MOST_A_MINUTE && ++suppressed;
}

/** How many events were kept back before this one, of whatever kind; null when it is kept back too, having had enough alike in these seconds. */
export function admit(kind: string): number | null {
  const count = (alike.get(kind) ?? 0) + 1;
  alike.set(kind, count);
  if (count > MOST_ALIKE) {
    suppressed++;
    return null;
  }
  inMinute++;
  const before = suppressed;
  suppressed = 0;
  return before;
}
