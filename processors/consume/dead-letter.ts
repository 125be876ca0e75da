import { decodeFrame, encodeFrame } from "../../platform/event-log/frame.ts";
import type { LogRecord } from "../../platform/event-log/port.ts";
import type { ConsumerNeeds } from "./consumer-state.ts";
import type { CursorName } from "./cursor.ts";

/**
 * Puts a record that cannot be processed on the `dead-letter` topic, with its reason and its bytes, so that its
 * partition goes on and nothing is lost. Tagged, version 1: a line of JSON, a newline, then the record's bytes.
 */
export async function sendToDeadLetter({ eventLog, log, metrics }: ConsumerNeeds, cursor: CursorName, record: LogRecord, reason: string): Promise<void> {
  const head = { type: "dead-letter", version: 1, group: cursor.group, log_id: cursor.logId, topic: cursor.topic, partition: cursor.partition, offset: String(record.offset), reason };
  metrics.deadLetters.inc({ topic: cursor.topic, group: cursor.group });
  log.error(head, "a record cannot be processed and goes to the dead-letter topic");
  await eventLog.append("dead-letter", cursor.partition % eventLog.partitions("dead-letter"), Buffer.concat([Buffer.from(`${JSON.stringify(head)}\n`), record.value]));
}

/** An entry of a frame that cannot be processed, while its neighbours can. */
export interface UnreadableEntry {
  offset: bigint;
  entryIndex: number;
  reason: string;
}

/** Puts single entries on the `dead-letter` topic, each as a frame that holds it alone. */
export async function sendEntriesToDeadLetter(needs: ConsumerNeeds, cursor: CursorName, records: readonly LogRecord[], unreadable: readonly UnreadableEntry[]): Promise<void> {
  for (const { offset, entryIndex, reason } of unreadable) {
    const record = records.find((each) => each.offset === offset)!;
    const { head, entries } = decodeFrame(record.value);
    await sendToDeadLetter(needs, cursor, { offset, value: encodeFrame(head, [entries[entryIndex]!]) }, `entry ${entryIndex}: ${reason}`);
  }
}
