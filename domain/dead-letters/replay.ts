import { encodeFrame } from "../../platform/event-log/frame.ts";
import type { PlainLog } from "../../platform/event-log/door.ts";
import { replayEdgeId } from "../../platform/event-log/replay-id.ts";
import { encodeDeadLetter } from "../../schemas/messages/dead-letter.ts";
import { entriesOf, readDeadLetters, type DeadLetter } from "./read.ts";

export type ReplayOutcome = "replayed" | "replayed before" | "unreadable";

/**
 * Puts a letter's entries back into its topic and partition, for the one group that could not process them. The frame's id comes
 * from where the record first stood and from the attempt: a replay that died before it was noted, or two letters of one record, count once.
 * A letter that was put back before only goes again with `again`, and then counts again.
 */
export async function replayDeadLetter(eventLog: PlainLog, { letter, bytes }: { letter: DeadLetter; bytes: Buffer }, { again, now }: { again: boolean; now: number }): Promise<ReplayOutcome> {
  if (letter.replays > 0 && !again) return "replayed before";
  const entries = entriesOf(bytes);
  if (entries === null) return "unreadable";
  const { group, log_id: logId, topic, partition, offset, entry } = letter.head;
  const attempt = letter.replays + 1;
  const edgeId = replayEdgeId(group, logId, topic, String(partition), offset, String(entry ?? "all"), String(attempt));
  // Whoever sent it has had an answer long ago.
  for (const each of entries) each.detached = true;
  const frame = encodeFrame({ edgeId, sequence: 1n }, entries);
  await eventLog.append(topic, partition % eventLog.partitions(topic), frame);
  const note = encodeDeadLetter({ type: "dead-letter-replayed", version: 1, offset: letter.id.split("/")[1]!, attempt, at: new Date(now).toISOString() }, Buffer.alloc(0));
  await eventLog.append("dead-letter", letter.partition, note);
  letter.replays = attempt;
  return "replayed";
}

/** All letters that stand there now, one after the other; `onProgress` is told after each. */
export async function replayAllDeadLetters(
  eventLog: PlainLog,
  options: { again: boolean; now: number; onProgress?(done: number, of: number): void },
): Promise<Record<ReplayOutcome, number>> {
  const counts: Record<ReplayOutcome, number> = { replayed: 0, "replayed before": 0, unreadable: 0 };
  const letters = new Map((await readDeadLetters(eventLog)).map((letter) => [letter.id, letter]));
  let done = 0;
  await eventLog.scan("dead-letter", async (partition, { offset, value }) => {
    // Those that came since the first reading may be of this very run and are left for the next.
    const letter = letters.get(`${partition}/${offset}`);
    if (!letter) return;
    counts[await replayDeadLetter(eventLog, { letter, bytes: value.subarray(value.indexOf(10) + 1) }, options)] += 1;
    options.onProgress?.((done += 1), letters.size);
  });
  return counts;
}
