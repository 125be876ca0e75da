import { asc, eq, inArray } from "drizzle-orm";
import type { ClickHouse } from "../../platform/clickhouse/port.ts";
import type { Log } from "../../platform/log.ts";
import { inTransaction, type Database } from "../../platform/postgres/database.ts";
import { deadLetters } from "../../schemas/tables/all.ts";
import type { Topic } from "../../schemas/vocabulary.ts";
import { logOfRows } from "../consume/cursor-name.ts";
import { deleteRowsAt, type RowsAt } from "./rows-at.ts";

/** Where a group's rows stand; the other groups have none. */
const TABLE_OF_GROUP: Record<string, RowsAt["table"]> = {
  errors: "beacon_events",
  "errors-overflow": "beacon_events",
  samples: "metric_samples",
  "ping-history": "heartbeat_pings",
};

/** One mutation deletes the rows of many letters: each rewrites whole parts. */
const LETTERS_OF_ROUND = 100;
/** Postgres ends a transaction that stands idle for half a minute. */
const ROUND_MS = 10_000;

interface StandingLetter {
  id: string;
  group: string;
  logId: string;
  topic: string;
  partition: number;
  offset: bigint;
  entry: number;
}

interface DeleteNeeds {
  database: Database;
  clickhouse: ClickHouse;
  log: Log;
}

/**
 * Deletes from ClickHouse what letters in the state `rows_stand` left there, and opens them. The
 * letters of a round are locked, so another process takes others. A process that dies before its
 * letters are open leaves them as they were; deleting what is gone does nothing. True when there
 * may be more to do at once.
 */
export async function deleteStandingRows({
  database,
  clickhouse,
  log,
}: DeleteNeeds): Promise<boolean> {
  return inTransaction(database, async (transaction) => {
    const letters = await transaction
      .select({
        id: deadLetters.id,
        group: deadLetters.consumerGroup,
        logId: deadLetters.logId,
        topic: deadLetters.topic,
        partition: deadLetters.partition,
        offset: deadLetters.offset,
        entry: deadLetters.entry,
      })
      .from(deadLetters)
      .where(eq(deadLetters.state, "rows_stand"))
      .orderBy(asc(deadLetters.createdAt))
      .limit(LETTERS_OF_ROUND)
      .for("update", { skipLocked: true });
    const until = performance.now() + ROUND_MS;
    const gone: string[] = [];
    for (const some of together(letters)) {
      const rows = rowsOf(some);
      const deleted =
        rows === null ||
        (await deleteRowsAt(clickhouse, rows, until).catch((error: unknown) => told(log, error)));
      if (deleted) gone.push(...some.map(({ id }) => id));
    }
    if (gone.length > 0)
      await transaction
        .update(deadLetters)
        .set({ state: "open" })
        .where(inArray(deadLetters.id, gone));
    return gone.length === LETTERS_OF_ROUND;
  });
}

/** Letters whose rows stand in one table, under one log and partition. */
function together(letters: StandingLetter[]): StandingLetter[][] {
  const byPlace = new Map<string, StandingLetter[]>();
  for (const letter of letters) {
    const place = JSON.stringify([letter.group, letter.logId, letter.topic, letter.partition]);
    byPlace.set(place, [...(byPlace.get(place) ?? []), letter]);
  }
  return [...byPlace.values()];
}

function rowsOf(letters: StandingLetter[]): RowsAt | null {
  const { group, logId, topic, partition } = letters[0]!;
  const table = TABLE_OF_GROUP[group];
  if (table === undefined) return null;
  return { table, logId: logOfRows({ logId, topic: topic as Topic }), partition, entries: letters };
}

function told(log: Log, error: unknown): false {
  log.warn(
    { err: error },
    "rows of dead letters could not be deleted from ClickHouse; trying again",
  );
  return false;
}
