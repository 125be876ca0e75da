import { setTimeout as pause } from "node:timers/promises";
import { untilAborted } from "../../../platform/outbound/until-aborted.ts";

/** Lets one at a time speak to each server, with a pause between them. */
export interface Turns {
  /** Runs `work` when it is its turn at the server. Rejects with the signal's reason while it waits. */
  take<T>(server: string, signal: AbortSignal, work: () => Promise<T>): Promise<T>;
  /** The server wants to be left alone for so long. */
  rest(server: string, ms: number): void;
  /** For how many ms yet it wants to be left alone; 0 for not at all. */
  restingFor(server: string): number;
}

/** `gapMs` lies between the end of one and the start of the next. */
export function makeTurns(gapMs: number): Turns {
  /** Each ends when the next may begin, and never rejects. Forgotten once nobody waits. */
  const last = new Map<string, Promise<void>>();
  const restUntil = new Map<string, number>();

  return {
    async take(server, signal, work) {
      const before = last.get(server) ?? Promise.resolve();
      let finish!: () => void;
      const done = new Promise<void>((resolve) => {
        finish = resolve;
      });
      // Whoever is behind one that gave up waits for those before it.
      const mine: Promise<void> = before.then(() => done).then(() => void (last.get(server) === mine && last.delete(server)));
      last.set(server, mine);
      try {
        await untilAborted(before, signal);
      } catch (error) {
        finish();
        throw error;
      }
      try {
        return await work();
      } finally {
        void pause(gapMs, undefined, { ref: false }).then(finish);
      }
    },
    rest(server, ms) {
      restUntil.set(server, performance.now() + ms);
    },
    restingFor(server) {
      const ms = (restUntil.get(server) ?? 0) - performance.now();
      if (ms <= 0) restUntil.delete(server);
      return Math.max(ms, 0);
    },
  };
}
