import type { Log } from "../../platform/log.ts";
import { OwnershipLost } from "./cursor.ts";

const PAUSES_MS = [50, 100, 200, 500, 1_000, 2_000];
/** Work may take long: a thread that hangs is waited for half a minute, while the log takes an owner that is silent for ten seconds for dead. */
const ALIVE_EVERY_MS = 1_000;
/** Work that takes longer than this hangs by itself, on a half-open connection perhaps: then another owner shall have the partition. */
const ALIVE_AT_MOST = 600;

/** What went wrong at the bottom of it. The messages above hold whole statements with what strangers sent as their parameters. */
export function reasonOf(error: unknown): string {
  let cause = error;
  while (cause instanceof Error && cause.cause instanceof Error) cause = cause.cause;
  return cause instanceof Error ? cause.message : String(cause);
}

/** Something that work needs is away; none of what it works on is to blame. */
export class TriedAgain extends Error {
  constructor(reason: string, options?: ErrorOptions) {
    super(reason, options);
    this.name = "TriedAgain";
  }
}

export interface Ownership {
  owned(): boolean;
  keepAlive(): Promise<void>;
}

/**
 * Runs `work` until it succeeds: a store that is away comes back, and nothing may be skipped meanwhile. Ends with
 * OwnershipLost once the partition is no longer ours. `work` gets the number of the attempt, from 0.
 */
export async function retrying<T>(what: string, ownership: Ownership, log: Log, work: (attempt: number) => Promise<T>): Promise<T> {
  for (let attempt = 0; ; attempt++) {
    let beats = 0;
    const alive = setInterval(() => void (beats++ < ALIVE_AT_MOST && ownership.keepAlive()), ALIVE_EVERY_MS);
    try {
      return await work(attempt);
    } catch (error) {
      if (error instanceof OwnershipLost || !ownership.owned()) throw error;
      const level = attempt === 0 ? "warn" : attempt % 10 === 0 ? "error" : "debug";
      log[level]({ err: reasonOf(error), attempt }, `${what} failed; it is tried again`);
      await new Promise((resolve) => setTimeout(resolve, PAUSES_MS[Math.min(attempt, PAUSES_MS.length - 1)]));
      await ownership.keepAlive();
    } finally {
      clearInterval(alive);
    }
  }
}
