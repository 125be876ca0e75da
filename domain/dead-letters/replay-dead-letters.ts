import { and, eq } from "drizzle-orm";
import type { PlainLog } from "../../platform/event-log/door.ts";
import { encodeFrame } from "../../platform/event-log/frame.ts";
import { replayEdgeId } from "../../platform/event-log/replay-id.ts";
import type { Database } from "../../platform/postgres/database.ts";
import { deadLetters } from "../../schemas/tables/all.ts";
import { TOPICS, type DeadLetterState } from "../../schemas/vocabulary.ts";
import {
  countDeadLetters,
  entriesOf,
  listDeadLetterIds,
  readDeadLetter,
  type DeadLetter,
  type DeadLetterFilter,
} from "./list-dead-letters.ts";
import { WHOLE_RECORD } from "./record-dead-letters.ts";

export type ReplayOutcome =
  "replayed" | "replayed before" | "discarded before" | "rows stand" | "unreadable";

export interface ReplayNeeds {
  database: Database;
  eventLog: PlainLog;
}

/** Why a letter in this state is not put back; null when it is. */
export function refusedReplay(state: DeadLetterState, again: boolean): ReplayOutcome | null {
  if (state === "rows_stand") return "rows stand";
  if (state === "replayed" && !again) return "replayed before";
  if (state === "discarded" && !again) return "discarded before";
  return null;
}

/**
 * Puts a letter's entries back into its topic, for the one group that could not process them. The
 * frame's edge id is made of the letter's place and the attempt, so a replay that ends before it is
 * noted can be repeated and counts once. The log may be another one than that which the letter came
 * from. A letter that was answered before is put back only with `again`, and then counts again.
 */
export async function replayDeadLetter(
  { database, eventLog }: ReplayNeeds,
  letter: DeadLetter,
  { again, now }: { again: boolean; now: number },
): Promise<ReplayOutcome> {
  const refused = refusedReplay(letter.state, again);
  if (refused !== null) return refused;
  const topic = TOPICS.find((each) => each === letter.topic);
  const entries = entriesOf(letter.bytes);
  if (entries === null || topic === undefined) return "unreadable";
  const attempt = letter.replays + 1;
  const edgeId = edgeIdOf(letter, attempt);
  // The sender had its answer long ago.
  for (const each of entries) each.detached = true;
  const frame = encodeFrame({ edgeId, sequence: 1n }, entries);
  await eventLog.append(topic, letter.partition % eventLog.partitions(topic), frame);
  await database
    .update(deadLetters)
    .set({ state: "replayed", replays: attempt, answeredAt: new Date(now) })
    .where(and(eq(deadLetters.id, letter.id), eq(deadLetters.replays, letter.replays)));
  return "replayed";
}

function edgeIdOf({ consumerGroup, logId, topic, ...letter }: DeadLetter, attempt: number): string {
  const entry = letter.entry === WHOLE_RECORD ? "all" : String(letter.entry);
  const place = [logId, topic, String(letter.partition), String(letter.offset), entry];
  return replayEdgeId(consumerGroup, ...place, String(attempt));
}

interface ReplayAllOptions {
  /** Of these topics and groups; letters of other states than `open` are passed over. */
  filter: Pick<DeadLetterFilter, "topic" | "consumerGroup">;
  /** Also puts those back that were replayed before. Discarded letters stay discarded. */
  again: boolean;
  now: number;
  onProgress?(done: number, of: number): void;
}

/**
 * Puts back all letters that stand now, the oldest first. Those that come meanwhile may be of this
 * very run and are left for the next. The counts name the letters that were passed over, too.
 */
export async function replayAllDeadLetters(
  needs: ReplayNeeds,
  { filter, again, now, onProgress }: ReplayAllOptions,
): Promise<Record<ReplayOutcome, number>> {
  const { database } = needs;
  const before = await countDeadLetters(database, filter);
  const counts: Record<ReplayOutcome, number> = {
    replayed: 0,
    "replayed before": again ? 0 : before.replayed,
    "discarded before": before.discarded,
    "rows stand": before.rows_stand,
    unreadable: 0,
  };
  const states: DeadLetterState[] = again ? ["open", "replayed"] : ["open"];
  const ids = await listDeadLetterIds(database, { ...filter, states });
  for (const [index, id] of ids.entries()) {
    const letter = await readDeadLetter(database, id);
    if (letter !== null && states.includes(letter.state)) {
      counts[await replayDeadLetter(needs, letter, { again, now })] += 1;
    }
    onProgress?.(index + 1, ids.length);
  }
  return counts;
}
