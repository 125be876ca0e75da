import { and, eq } from "drizzle-orm";
import type { Database } from "../../platform/postgres/database.ts";
import { deadLetters } from "../../schemas/tables/all.ts";
import { takenBy, type DeadLetterFilter } from "./list-dead-letters.ts";

interface DiscardedLetters extends Pick<DeadLetterFilter, "topic" | "consumerGroup"> {
  id?: string;
}

/**
 * Discards the open letters that are named; the others stay as they are. Gives the number of
 * discarded letters.
 */
export async function discardDeadLetters(
  database: Database,
  { id, ...filter }: DiscardedLetters,
  now: number,
): Promise<number> {
  const named = id === undefined ? undefined : eq(deadLetters.id, id);
  const { rowCount } = await database
    .update(deadLetters)
    .set({ state: "discarded", answeredAt: new Date(now) })
    .where(and(named, takenBy({ ...filter, states: ["open"] })));
  return rowCount ?? 0;
}
