import { and, eq, inArray, sql } from "drizzle-orm";
import { entriesOf } from "../../domain/dead-letters/list-dead-letters.ts";
import {
  idOfDeadLetter,
  recordDeadLetters,
  WHOLE_RECORD,
  type NewDeadLetter,
} from "../../domain/dead-letters/record-dead-letters.ts";
import type { EventLog } from "../../platform/event-log/port.ts";
import { inTransaction, type Database } from "../../platform/postgres/database.ts";
import {
  decodeDeadLetter,
  type DeadLetterHead,
  type ReplayedHead,
} from "../../schemas/messages/dead-letter.ts";
import { cursors, deadLetters } from "../../schemas/tables/all.ts";

/** The group whose cursors say how much of the topic is in the table. */
const GROUP = "dead-letter-import";
const TOPIC = "dead-letter";

interface ImportNeeds {
  eventLog: Pick<EventLog, "id" | "ends" | "scan">;
  database: Database;
}

/**
 * Brings letters that an older Pharos put on the topic `dead-letter` into the table, each once,
 * with its replays. It compares two numbers for each partition when there is nothing new. Any
 * number of processors may do it at once, and again: every step changes nothing where it was done
 * before.
 */
export async function importLetterTopic({ eventLog, database }: ImportNeeds): Promise<void> {
  const ends = await eventLog.ends(TOPIC);
  const imported = await importedUpTo(database, eventLog.id);
  if (ends.every((end, partition) => end <= (imported.get(partition) ?? 0n))) return;
  /** The topic's place of each letter → its id. One letter may stand there many times. */
  const ids = new Map<string, string>();
  const stored = new Set<string>();
  await eventLog.scan(TOPIC, async (partition, { offset, value }) => {
    const record = decodeDeadLetter(value);
    if (record === null) return;
    const isNew = offset >= (imported.get(partition) ?? 0n);
    if (record.head.type === "dead-letter-replayed") {
      const id = ids.get(`${partition}/${record.head.offset}`);
      if (isNew && id !== undefined) await noteReplay(database, id, record.head);
      return;
    }
    const letter = letterOf(record.head, record.bytes);
    const id = idOfDeadLetter(letter);
    ids.set(`${partition}/${offset}`, id);
    if (!isNew || stored.has(id)) return;
    await inTransaction(database, (transaction) => recordDeadLetters(transaction, [letter]));
    stored.add(id);
  });
  await rememberImported(database, eventLog.id, ends);
}

/** An older Pharos told the entry in the reason alone. */
function letterOf(head: DeadLetterHead, bytes: Buffer): NewDeadLetter {
  const { topic, partition } = head;
  const [prefix, told] = /^entry (\d+): /.exec(head.reason) ?? [""];
  const entry = head.entry ?? (told === undefined ? WHOLE_RECORD : Number(told));
  return {
    consumerGroup: head.group,
    logId: head.log_id,
    topic,
    partition,
    offset: BigInt(head.offset),
    entry,
    reason: head.reason.slice(prefix.length),
    bytes,
    rowsStand: false,
    createdAt: head.at === undefined ? receivedAt(bytes) : new Date(head.at),
  };
}

function receivedAt(bytes: Buffer): Date | undefined {
  const times = (entriesOf(bytes) ?? []).map((entry) => entry.receivedAt);
  return times.length === 0 ? undefined : new Date(Math.max(...times));
}

async function noteReplay(
  database: Database,
  id: string,
  { attempt, at }: ReplayedHead,
): Promise<void> {
  await database
    .update(deadLetters)
    .set({
      state: "replayed",
      replays: sql`greatest(${deadLetters.replays}, ${attempt})`,
      answeredAt: new Date(at),
    })
    .where(and(eq(deadLetters.id, id), inArray(deadLetters.state, ["open", "replayed"])));
}

async function importedUpTo(database: Database, logId: string): Promise<Map<number, bigint>> {
  const rows = await database
    .select({ partition: cursors.partition, nextOffset: cursors.nextOffset })
    .from(cursors)
    .where(
      and(eq(cursors.consumerGroup, GROUP), eq(cursors.logId, logId), eq(cursors.topic, TOPIC)),
    );
  return new Map(rows.map(({ partition, nextOffset }) => [partition, nextOffset]));
}

async function rememberImported(
  database: Database,
  logId: string,
  ends: readonly bigint[],
): Promise<void> {
  const rows = ends.map((nextOffset, partition) => ({
    consumerGroup: GROUP,
    logId,
    topic: TOPIC,
    partition,
    nextOffset,
    epoch: 0n,
  }));
  await database
    .insert(cursors)
    .values(rows)
    .onConflictDoUpdate({
      target: [cursors.consumerGroup, cursors.logId, cursors.topic, cursors.partition],
      set: {
        nextOffset: sql`greatest(${cursors.nextOffset}, excluded.next_offset)`,
        updatedAt: sql`now()`,
      },
    });
}
