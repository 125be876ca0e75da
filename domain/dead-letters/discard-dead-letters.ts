import { and, eq, inArray, lt } from "drizzle-orm";
import type { Database } from "../../platform/postgres/database.ts";
import { deadLetters } from "../../schemas/tables/all.ts";
import { takenBy, type DeadLetterFilter } from "./list-dead-letters.ts";

/** Letters that were put back or discarded can be looked at for so long. */
export const ANSWERED_LETTERS_KEPT_MS = 30 * 24 * 60 * 60_000;

/** A letter can be large. */
const LETTERS_OF_STATEMENT = 100;

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

/** Deletes some letters that were answered more than 30 days ago; true when there may be more. */
export async function forgetAnsweredLetters(database: Database, now: Date): Promise<boolean> {
  const before = new Date(now.getTime() - ANSWERED_LETTERS_KEPT_MS);
  const old = database
    .select({ id: deadLetters.id })
    .from(deadLetters)
    .where(and(takenBy({ states: ["replayed", "discarded"] }), lt(deadLetters.answeredAt, before)))
    .limit(LETTERS_OF_STATEMENT)
    .for("update", { skipLocked: true });
  const { rowCount } = await database.delete(deadLetters).where(inArray(deadLetters.id, old));
  return rowCount === LETTERS_OF_STATEMENT;
}
