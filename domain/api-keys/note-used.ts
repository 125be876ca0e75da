import { and, inArray, isNull, lt, or } from "drizzle-orm";
import type { Clock } from "../../platform/clock.ts";
import type { Log } from "../../platform/log.ts";
import type { Database } from "../../platform/postgres/database.ts";
import { apiKeys } from "../../schemas/tables/all.ts";

/** Remembers which keys were used; a request costs a look into a map, not a write. */
export interface KeyUses {
  note(id: string): void;
  /** Writes what is still to be written. */
  close(): Promise<void>;
}

/** A key's use is written at most so often … */
const NOTE_EVERY_MS = 60_000;
/** … and those of many keys together this often. */
const WRITE_EVERY_MS = 5_000;

export function noteKeyUses({ database, clock, log }: { database: Database; clock: Clock; log: Log }): KeyUses {
  const noted = new Map<string, number>();
  let unwritten = new Set<string>();
  const timer = setInterval(() => void write(), WRITE_EVERY_MS).unref();

  async function write(): Promise<void> {
    const ids = [...unwritten];
    unwritten = new Set();
    const now = clock.now();
    for (const [id, at] of noted) if (now - at >= NOTE_EVERY_MS) noted.delete(id);
    await writeKeyUses(database, ids, new Date(now)).catch((error: unknown) => log.debug({ err: error }, "could not write when keys were used"));
  }

  return {
    note(id) {
      const now = clock.now();
      if (now - (noted.get(id) ?? 0) < NOTE_EVERY_MS) return;
      noted.set(id, now);
      unwritten.add(id);
    },
    async close() {
      clearInterval(timer);
      await write();
    },
  };
}

/** One statement for any number of keys; never moves a time back. */
async function writeKeyUses(database: Database, ids: string[], at: Date): Promise<void> {
  if (ids.length === 0) return;
  const older = or(isNull(apiKeys.lastUsedAt), lt(apiKeys.lastUsedAt, at));
  // Sorted, so that two processes that write the same keys do not deadlock.
  await database.update(apiKeys).set({ lastUsedAt: at }).where(and(inArray(apiKeys.id, ids.toSorted()), older));
}
