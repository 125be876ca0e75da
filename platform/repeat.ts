import { setTimeout as pause } from "node:timers/promises";

export interface Repeating {
  start(): void;
  /** Resolves when the run in progress, if any, is done. */
  stop(): Promise<void>;
}

interface RepeatOptions {
  /** Between the end of a run and the next, in ms; none after a run that says there is more to do. */
  pauseMs: number;
  /** True when there is more to do at once. Hears when it shall stop. */
  work(stopping: AbortSignal): Promise<boolean | void>;
  /** It is tried again after the pause. */
  onError(error: unknown): void;
}

/** Does work again and again, one run after the other, until it is stopped. */
export function repeat({ pauseMs, work, onError }: RepeatOptions): Repeating {
  const stopping = new AbortController();
  let running: Promise<void> = Promise.resolve();

  async function run(): Promise<void> {
    while (!stopping.signal.aborted) {
      let more = false;
      try {
        more = (await work(stopping.signal)) === true;
      } catch (error) {
        onError(error);
      }
      if (!more) await pause(pauseMs, undefined, { signal: stopping.signal }).catch(() => undefined);
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
