import type { Consumer } from "../../platform/event-log/port.ts";
import type { Transaction } from "../../platform/postgres/database.ts";
import type { Topic } from "../../schemas/vocabulary.ts";
import { startBatchConsumer } from "./batch-consumer.ts";
import { makeCursorStore } from "./cursor-store.ts";
import type { UnreadableEntry } from "./dead-letter.ts";
import { placedEntries, type PlacedEntry } from "./fresh-frames.ts";
import type { DatabaseConsumerNeeds } from "./needs.ts";
import type { Proof } from "./watch-ends.ts";

/** A consumer whose effect is in PostgreSQL alone. */
export interface TransactionalOptions<Prepared, Result> {
  topic: Topic;
  group: string;
  maxBytes?: number;
  /** Its cursors prove that everything received before a moment is processed, and somebody needs that. */
  proves?: Proof;
  /** Work that needs no transaction, such as parsing. */
  prepare(entries: PlacedEntry[]): Promise<Prepared>;
  /** The effect, in the transaction that also moves the cursors: both happen or neither. */
  apply(transaction: Transaction, prepared: Prepared): Promise<Result>;
  /** After the commit; may be lost when the process dies right here. Never waited for. */
  afterCommit?(result: Result): void;
}

const LIMITS = { entries: 20_000, bytes: 8 * 1024 * 1024 };
const NOTHING_UNREADABLE: readonly UnreadableEntry[] = [];

/** Consumes a topic whose effect is in PostgreSQL alone: one transaction for each batch, exactly once. */
export function startTransactionalConsumer<Prepared, Result>(needs: DatabaseConsumerNeeds, options: TransactionalOptions<Prepared, Result>): Promise<Consumer> {
  const { eventLog, database, clock } = needs;
  const { topic, group, maxBytes = LIMITS.bytes, proves, afterCommit } = options;
  const name = { group, logId: eventLog.id, topic };
  return startBatchConsumer<{ prepared: Prepared | null }, { prepared: Prepared | null }, { result: Result } | null>(
    needs,
    name,
    { cursors: makeCursorStore(database, name, () => clock.now()), rows: null },
    { limits: LIMITS, maxBytes, everyMs: 0, ...(proves && { proves }) },
    {
      async prepare(slices, only) {
        const entries = placedEntries(slices, only);
        const receivedAt = new Map(entries.map(({ partition, entry }) => [partition, entry.receivedAt]));
        return { prepared: entries.length === 0 ? null : await options.prepare(entries), unreadable: NOTHING_UNREADABLE, count: entries.length, receivedAt };
      },
      store: async ({ prepared }) => ({ prepared }),
      apply: async (transaction, { prepared }) => (prepared === null ? null : { result: await options.apply(transaction, prepared) }),
      ...(afterCommit && { afterCommit: (applied) => void (applied && afterCommit(applied.result)) }),
    },
  );
}
