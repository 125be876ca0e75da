import type { Clock } from "./clock.ts";

export interface DayBudget {
  /** Takes so much of what an owner has on this day (UTC). Null when it had that much, else the whole seconds until the next day. */
  take(owner: string, amount: number, perDay: number): number | null;
}

const DAY_MS = 86_400_000;

/** Counts in this process, from zero when it starts and at midnight. */
export function makeDayBudget({ clock }: { clock: Clock }): DayBudget {
  let day = -1;
  let spent = new Map<string, number>();
  return {
    take(owner, amount, perDay) {
      const now = clock.now();
      const current = Math.floor(now / DAY_MS);
      if (current !== day) {
        day = current;
        spent = new Map();
      }
      const before = spent.get(owner) ?? 0;
      if (before >= perDay) return Math.max(1, Math.ceil(((current + 1) * DAY_MS - now) / 1_000));
      spent.set(owner, before + amount);
      return null;
    },
  };
}
