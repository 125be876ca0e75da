import { decodeFrame, encodeFrame } from "../../platform/event-log/frame.ts";
import type { LogRecord } from "../../platform/event-log/port.ts";
import { inTransaction, postgresCode, type Database, type Transaction } from "../../platform/postgres/database.ts";
import type { UnreadableEntry } from "./dead-letter.ts";
import { reasonOf } from "./retrying.ts";

/** An entry whose effect cannot be had, with its rows. */
interface Culprit<Row> extends UnreadableEntry {
  rows: Row[];
}

interface Trial<Row> {
  database: Database;
  records: readonly LogRecord[];
  rowsOf(records: LogRecord[]): Promise<{ rows: Row[] }>;
  apply(transaction: Transaction, rows: Row[]): Promise<void>;
}

/** Whether an error comes of what was written rather than of where: a value that Postgres refuses, or one that our own code did not reckon with. */
export function isOfContent(error: unknown): boolean {
  const code = postgresCode(error);
  return code === null ? error instanceof RangeError || error instanceof TypeError || error instanceof SyntaxError : code.startsWith("22") || code.startsWith("23");
}

/**
 * The entries of some records that are to blame when their effect is refused: record by record, then entry by entry, each in a transaction that is
 * rolled back. Their rows have the places that they have in the whole record.
 */
export async function findCulprits<Row extends { index: number }>({ database, records, rowsOf, apply }: Trial<Row>): Promise<Culprit<Row>[]> {
  const culprits: Culprit<Row>[] = [];
  for (const record of records) {
    if ((await refusal(await rowsOf([record]))) === null) continue;
    const { head, entries } = decodeFrame(record.value);
    let index = 0;
    for (const [entryIndex, entry] of entries.entries()) {
      const first = index;
      const { rows } = await rowsOf([{ ...record, value: encodeFrame(head, [entry]) }]);
      index += rows.length;
      for (const row of rows) row.index += first;
      const reason = await refusal({ rows });
      if (reason !== null) culprits.push({ offset: record.offset, entryIndex, reason, rows });
    }
  }
  return culprits;

  async function refusal({ rows }: { rows: Row[] }): Promise<string | null> {
    const rolledBack = new Error("tried");
    try {
      await inTransaction(database, async (transaction) => {
        await apply(transaction, rows);
        throw rolledBack;
      });
      return null;
    } catch (error) {
      if (error === rolledBack) return null;
      if (!isOfContent(error)) throw error;
      return reasonOf(error);
    }
  }
}
