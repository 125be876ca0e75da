const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;

/** So many confirmations of one page an address gets in a day, and how far apart they are. */
const ASKS_A_DAY = 5;
const BETWEEN_ASKS_MS = 10 * MINUTE_MS;

interface Asked {
  /** Confirmations sent since `asksSince`. */
  asks: number;
  asksSince: Date;
  lastAskedAt: Date;
}

/** Pure: the new counts when another confirmation may be sent, null when the address was asked often enough. */
export function decideAsk({ asks, asksSince, lastAskedAt }: Asked, at: Date): Asked | null {
  if (asks > 0 && at.getTime() - lastAskedAt.getTime() < BETWEEN_ASKS_MS) return null;
  const begins = asks === 0 || at.getTime() - asksSince.getTime() >= DAY_MS;
  if (!begins && asks >= ASKS_A_DAY) return null;
  return { asks: begins ? 1 : asks + 1, asksSince: begins ? at : asksSince, lastAskedAt: at };
}
