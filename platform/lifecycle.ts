import type { Log } from "./log.ts";

/** A running piece of the service: a store, a door, a loop. Started in order, stopped in reverse. */
export interface Part {
  name: string;
  /** Stops taking in, finishes what was taken in, then resolves. */
  stop(): Promise<void>;
  /** Null when it can do its work now, else why not, as it reads in `/readyz`. */
  unready?(): Promise<string | null> | string | null;
}

export interface Lifecycle {
  /** Starts a part after those before it. */
  add<P extends Part>(part: P): P;
  /** Stops all parts, the last added first; never rejects. Calling it again gives the same promise. */
  stop(): Promise<void>;
  /** Reasons by part; empty when every part is ready. */
  unready(): Promise<Record<string, string>>;
  stopping(): boolean;
}

export function makeLifecycle(log: Log): Lifecycle {
  const parts: Part[] = [];
  let stopped: Promise<void> | null = null;

  async function stopAll(): Promise<void> {
    for (const part of parts.toReversed()) {
      const started = performance.now();
      try {
        await part.stop();
        log.debug({ part: part.name, ms: Math.round(performance.now() - started) }, "stopped");
      } catch (error) {
        log.error({ part: part.name, err: error }, "a part failed to stop cleanly");
      }
    }
  }

  return {
    add(part) {
      parts.push(part);
      return part;
    },
    stop: () => (stopped ??= stopAll()),
    async unready() {
      const reasons: Record<string, string> = {};
      await Promise.all(
        parts.map(async ({ name, unready }) => {
          const reason = await Promise.resolve(unready?.() ?? null).catch((error: unknown) => (error instanceof Error ? error.message : String(error)));
          if (reason !== null) reasons[name] = reason;
        }),
      );
      if (stopped) reasons.pharos = "stopping";
      return reasons;
    },
    stopping: () => stopped !== null,
  };
}
