import { setTimeout as pause } from "node:timers/promises";
import type { UntilDue } from "./due-looks.ts";

export interface Repeating {
  start(): void;
  /** Resolves when the run in progress, if any, is done. */
  stop(): Promise<void>;
}

interface RepeatOptions {
  /** Between the end of a run and the next, in ms; none after a run that says there is more to do. */
  pauseMs: number;
  /** Ends the pause in place of `pauseMs`, which is left for runs that failed. */
  untilDue?: UntilDue;
  /** True when there is more to do at once. Hears when it shall stop. */
  work(stopping: AbortSignal): Promise<boolean | void>;
  /** It is tried again after the pause. */
  onError(error: unknown): void;
}

/** Does work again and again, one run after the other, until it is stopped. */
export function repeat({ pauseMs, untilDue, work, onError }: RepeatOptions): Repeating {
  const stopping = new AbortController();
  let running: Promise<void> = Promise.resolve();

  async function run(): Promise<void> {
    while (!stopping.signal.aborted) {
      let outcome: "more" | "done" | "failed" = "done";
      try {
        if ((await work(stopping.signal)) === true) outcome = "more";
      } catch (error) {
        onError(error);
        outcome = "failed";
      }
      if (outcome === "more") continue;
      if (outcome === "done" && untilDue) await untilDue(stopping.signal);
      else await pause(pauseMs, undefined, { signal: stopping.signal }).catch(() => undefined);
    }
  }

  return {
    start() {
      running = run();
    },
    async stop() {
      stopping.abort();
      await running;
    },
  };
}
