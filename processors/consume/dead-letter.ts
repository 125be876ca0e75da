import { decodeFrame, encodeFrame } from "../../platform/event-log/frame.ts";
import type { LogRecord } from "../../platform/event-log/port.ts";
import { encodeDeadLetter, type DeadLetterHead } from "../../schemas/messages/dead-letter.ts";
import type { ConsumerNeeds } from "./consumer-state.ts";
import type { CursorName } from "./cursor.ts";

/** Puts a record that cannot be processed on the `dead-letter` topic, with its reason and its bytes, so that its partition goes on and nothing is lost. */
export async function sendToDeadLetter(needs: ConsumerNeeds, cursor: CursorName, record: LogRecord, reason: string): Promise<void> {
  await send(needs, cursor, { offset: String(record.offset), reason }, record.value);
}

async function send({ eventLog, clock, log, metrics }: ConsumerNeeds, cursor: CursorName, of: Pick<DeadLetterHead, "offset" | "entry" | "reason">, bytes: Buffer): Promise<void> {
  const { group, logId, topic, partition } = cursor;
  const head: DeadLetterHead = { type: "dead-letter", version: 1, group, log_id: logId, topic, partition, ...of, at: new Date(clock.now()).toISOString() };
  metrics.deadLetters.inc({ topic, group });
  log.error(head, "a record cannot be processed and goes to the dead-letter topic");
  await eventLog.append("dead-letter", partition % eventLog.partitions("dead-letter"), encodeDeadLetter(head, bytes));
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
    await send(needs, cursor, { offset: String(offset), entry: entryIndex, reason: `entry ${entryIndex}: ${reason}` }, encodeFrame(head, [entries[entryIndex]!]));
  }
}
