import { WHOLE_RECORD, type NewDeadLetter } from "../../domain/dead-letters/record-dead-letters.ts";
import { decodeFrame, encodeFrame } from "../../platform/event-log/frame.ts";
import type { Log } from "../../platform/log.ts";
import type { Metrics } from "../../platform/metrics.ts";
import type { ConsumerName } from "./cursor-name.ts";
import type { FreshSlice } from "./fresh-frames.ts";

/** An entry of a frame that cannot be processed, while its neighbours can. */
export interface UnreadableEntry {
  partition: number;
  offset: bigint;
  entryIndex: number;
  reason: string;
}

/**
 * The dead letters of a batch: records that are no frames, entries that could not be read, and entries that were left
 * out because their effect was refused; rows of the last may stand where `hasRows`. Pure.
 */
export function lettersOf(
  { group, logId, topic }: ConsumerName,
  slices: readonly FreshSlice[],
  unreadable: readonly UnreadableEntry[],
  hasRows: boolean,
): NewDeadLetter[] {
  const letters: NewDeadLetter[] = [];
  for (const { partition, records, broken, left } of slices) {
    const letterOf = (offset: bigint, entry: number, reason: string, bytes: Uint8Array, rowsStand: boolean): NewDeadLetter => ({ consumerGroup: group, logId, topic, partition, offset, entry, reason, bytes, rowsStand });
    for (const { record, reason } of broken) letters.push(letterOf(record.offset, WHOLE_RECORD, reason, record.value, false));
    for (const { offset, value } of records) {
      for (const [entry, reason] of left.get(offset) ?? []) letters.push(letterOf(offset, entry, reason, entry === WHOLE_RECORD ? value : frameOfEntry(value, entry), hasRows));
      for (const each of unreadable) {
        if (each.partition !== partition || each.offset !== offset) continue;
        letters.push(letterOf(offset, each.entryIndex, each.reason, frameOfEntry(value, each.entryIndex), false));
      }
    }
  }
  return letters;
}

/** A frame that holds one entry of a frame alone. */
function frameOfEntry(frame: Buffer, entryIndex: number): Buffer {
  const { head, entries } = decodeFrame(frame);
  return encodeFrame(head, [entries[entryIndex]!]);
}

/** Tells operators of letters that were recorded. */
export function noteDeadLetters(letters: readonly NewDeadLetter[], { log, metrics }: { log: Log; metrics: Metrics }): void {
  for (const { consumerGroup: group, topic, partition, offset, entry, reason } of letters) {
    metrics.deadLetters.inc({ topic, group });
    log.error({ group, topic, partition, offset: String(offset), entry, reason }, "a record or an entry of it cannot be processed; it is kept as a dead letter");
  }
}
