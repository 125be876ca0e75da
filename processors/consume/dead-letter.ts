import { WHOLE_RECORD, type NewDeadLetter } from "../../domain/dead-letters/record-dead-letters.ts";
import { decodeFrame, encodeFrame } from "../../platform/event-log/frame.ts";
import type { LogRecord } from "../../platform/event-log/port.ts";
import type { ConsumerNeeds } from "./consumer-state.ts";
import type { CursorName } from "./cursor.ts";

/** An entry of a frame that cannot be processed, while its neighbours can. */
export interface UnreadableEntry {
  offset: bigint;
  entryIndex: number;
  reason: string;
}

/** The letter of a record that cannot be processed at all. */
export function letterOfRecord(
  { group, logId, topic, partition }: CursorName,
  { offset, value }: LogRecord,
  reason: string,
): NewDeadLetter {
  const place = { consumerGroup: group, logId, topic, partition, offset, entry: WHOLE_RECORD };
  return { ...place, reason, bytes: value, rowsStand: false };
}

/** The letters of single entries, each as a frame that holds it alone. */
export function lettersOfEntries(
  { group, logId, topic, partition }: CursorName,
  records: readonly LogRecord[],
  unreadable: readonly UnreadableEntry[],
): NewDeadLetter[] {
  return unreadable.map(({ offset, entryIndex, reason }) => {
    const { value } = records.find((each) => each.offset === offset)!;
    const { head, entries } = decodeFrame(value);
    const place = { consumerGroup: group, logId, topic, partition, offset, entry: entryIndex };
    const bytes = encodeFrame(head, [entries[entryIndex]!]);
    return { ...place, reason, bytes, rowsStand: false };
  });
}

/** Counts letters and logs them. Called after their transaction has committed. */
export function tellOfLetters(
  { log, metrics }: Pick<ConsumerNeeds, "log" | "metrics">,
  letters: readonly NewDeadLetter[],
): void {
  for (const { bytes, rowsStand: _, consumerGroup: group, offset, ...letter } of letters) {
    metrics.deadLetters.inc({ topic: letter.topic, group });
    const about = { group, ...letter, offset: String(offset), bytes: bytes.byteLength };
    log.error(about, "a record cannot be processed and is kept as a dead letter");
  }
}
