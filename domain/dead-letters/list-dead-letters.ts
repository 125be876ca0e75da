import { and, asc, between, count, desc, eq, inArray, lt, or, type SQL } from "drizzle-orm";
import { decodeFrame, type FrameEntry } from "../../platform/event-log/frame.ts";
import type { Database } from "../../platform/postgres/database.ts";
import { deadLetters } from "../../schemas/tables/all.ts";
import { DEAD_LETTER_STATES, type DeadLetterState } from "../../schemas/vocabulary.ts";

export type DeadLetter = typeof deadLetters.$inferSelect;

export interface DeadLetterFilter {
  topic?: string | undefined;
  consumerGroup?: string | undefined;
  states?: readonly DeadLetterState[] | undefined;
}

/** A letter holds up to 8 MiB, so few are read at a time. */
const LETTERS_OF_PAGE = 20;

/** The fewest digits of an id that name a letter. */
const FEWEST_DIGITS = 8;
const MOST_FOUND = 10;

/** The letters that a filter takes, as a condition; undefined when it takes all. */
export function takenBy({ topic, consumerGroup, states }: DeadLetterFilter): SQL | undefined {
  return and(
    topic === undefined ? undefined : eq(deadLetters.topic, topic),
    consumerGroup === undefined ? undefined : eq(deadLetters.consumerGroup, consumerGroup),
    states === undefined ? undefined : inArray(deadLetters.state, [...states]),
  );
}

/** Gives up to `limit` letters with their bytes, the newest first. */
export async function* listDeadLetters(
  database: Database,
  filter: DeadLetterFilter,
  limit: number,
): AsyncGenerator<DeadLetter> {
  let last: DeadLetter | undefined;
  for (let left = limit; left > 0;) {
    const page: DeadLetter[] = await database
      .select()
      .from(deadLetters)
      .where(and(takenBy(filter), last && olderThan(last)))
      .orderBy(desc(deadLetters.createdAt), desc(deadLetters.id))
      .limit(Math.min(left, LETTERS_OF_PAGE));
    yield* page;
    if (page.length < LETTERS_OF_PAGE) return;
    left -= page.length;
    last = page.at(-1);
  }
}

function olderThan({ createdAt, id }: DeadLetter): SQL | undefined {
  const sameMoment = and(eq(deadLetters.createdAt, createdAt), lt(deadLetters.id, id));
  return or(lt(deadLetters.createdAt, createdAt), sameMoment);
}

/** Ids of all letters that a filter takes, the oldest first. */
export async function listDeadLetterIds(
  database: Database,
  filter: DeadLetterFilter,
): Promise<string[]> {
  const rows = await database
    .select({ id: deadLetters.id })
    .from(deadLetters)
    .where(takenBy(filter))
    .orderBy(asc(deadLetters.createdAt), asc(deadLetters.id));
  return rows.map(({ id }) => id);
}

/** How many letters a filter takes, for each state. */
export async function countDeadLetters(
  database: Database,
  filter: DeadLetterFilter,
): Promise<Record<DeadLetterState, number>> {
  const rows = await database
    .select({ state: deadLetters.state, letters: count() })
    .from(deadLetters)
    .where(takenBy(filter))
    .groupBy(deadLetters.state);
  const counted = new Map(rows.map(({ state, letters }) => [state, letters]));
  const counts = DEAD_LETTER_STATES.map((state) => [state, counted.get(state) ?? 0] as const);
  return Object.fromEntries(counts) as Record<DeadLetterState, number>;
}

/** How many letters wait for an answer, by topic and group. */
export async function countOpenDeadLetters(
  database: Database,
): Promise<{ topic: string; group: string; letters: number }[]> {
  return database
    .select({ topic: deadLetters.topic, group: deadLetters.consumerGroup, letters: count() })
    .from(deadLetters)
    .where(takenBy({ states: ["rows_stand", "open"] }))
    .groupBy(deadLetters.topic, deadLetters.consumerGroup);
}

/**
 * Ids of the letters whose ids begin with these digits, at most ten; at least eight digits are
 * needed.
 */
export async function findDeadLetterIds(database: Database, text: string): Promise<string[]> {
  const digits = text.toLowerCase().replaceAll("-", "");
  if (!/^[0-9a-f]{1,32}$/.test(digits) || digits.length < FEWEST_DIGITS) return [];
  const rows = await database
    .select({ id: deadLetters.id })
    .from(deadLetters)
    .where(between(deadLetters.id, digits.padEnd(32, "0"), digits.padEnd(32, "f")))
    .limit(MOST_FOUND);
  return rows.map(({ id }) => id);
}

/** One letter with its bytes, or null when there is none. */
export async function readDeadLetter(database: Database, id: string): Promise<DeadLetter | null> {
  const [letter] = await database.select().from(deadLetters).where(eq(deadLetters.id, id));
  return letter ?? null;
}

/** The entries of a letter's record, or null when its bytes are no whole frame. */
export function entriesOf(bytes: Uint8Array): FrameEntry[] | null {
  try {
    return decodeFrame(bytes).entries;
  } catch {
    return null;
  }
}
