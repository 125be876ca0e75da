import { eq } from "drizzle-orm";
import { logTopics } from "../../schemas/tables/all.ts";
import { TOPICS } from "../../schemas/vocabulary.ts";
import type { Queries } from "../postgres/database.ts";
import { StartFailure } from "../start-failure.ts";
import type { EventLog } from "./port.ts";

/**
 * Keeps the number of partitions that each topic had when its log was first used. Throws
 * StartFailure when it is another one now: edges choose the partition of a key by that number, and
 * what a consumer remembers of a key is kept for each partition.
 */
export async function requireSamePartitions({ database, eventLog }: { database: Queries; eventLog: Pick<EventLog, "id" | "partitions"> }): Promise<void> {
  const now = TOPICS.map((topic) => ({ logId: eventLog.id, topic, partitions: eventLog.partitions(topic) }));
  await database.insert(logTopics).values(now).onConflictDoNothing();
  const first = await database.select().from(logTopics).where(eq(logTopics.logId, eventLog.id));
  const before = new Map(first.map(({ topic, partitions }) => [topic, partitions]));
  const changed = now.filter(({ topic, partitions }) => before.get(topic) !== partitions);
  if (changed.length === 0) return;
  const list = changed.map(({ topic, partitions }) => `${topic} had ${before.get(topic)} and has ${partitions}`).join(", ");
  throw new StartFailure(`Partitions of the event log were added or taken away since it was first used: ${list}.`, {
    fix: "Which partition a key goes to follows from their number: retries would count twice, and pushes of a service lose their order. To use another number, stop the edges, wait until pharos_pipeline_lag_events is 0, stop the rest, then set KAFKA_TOPIC_PREFIX to a new name and LOG_PARTITIONS to the number you want, and start again.",
  });
}
