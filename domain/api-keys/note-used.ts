import { and, inArray, isNull, lt, or } from "drizzle-orm";
import type { Database } from "../../platform/postgres/database.ts";
import { apiKeys } from "../../schemas/tables/all.ts";

/** Writes when keys were used last, for any number of keys in one statement; never moves it back. */
export async function noteKeysUsed(database: Database, ids: string[], at: Date): Promise<void> {
  if (ids.length === 0) return;
  const older = or(isNull(apiKeys.lastUsedAt), lt(apiKeys.lastUsedAt, at));
  // Sorted, so that two processes that write the same keys do not deadlock.
  await database.update(apiKeys).set({ lastUsedAt: at }).where(and(inArray(apiKeys.id, ids.toSorted()), older));
}
