import type { Log } from "../../platform/log.ts";
import { OwnershipLost } from "./cursor.ts";

const PAUSES_MS = [50, 100, 200, 500, 1_000, 2_000];

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
    try {
      return await work(attempt);
    } catch (error) {
      if (error instanceof OwnershipLost || !ownership.owned()) throw error;
      const level = attempt === 0 ? "warn" : attempt % 10 === 0 ? "error" : "debug";
      log[level]({ err: error instanceof Error ? error.message : error, attempt }, `${what} failed; it is tried again`);
      await new Promise((resolve) => setTimeout(resolve, PAUSES_MS[Math.min(attempt, PAUSES_MS.length - 1)]));
      await ownership.keepAlive();
    }
  }
}
