import type { LogRecord } from "../port.ts";
import { answered, messageOf } from "./client.ts";
import { startKafkaConsumer, type KafkaConsumerNeeds } from "./consumer.ts";

/** Gives each record that a topic holds now to `onRecord`, read by a group of its own which is deleted afterwards. */
export async function scanTopic(needs: KafkaConsumerNeeds, onRecord: (partition: number, record: LogRecord) => Promise<void> | void): Promise<void> {
  const { admin, topicName, groupName, log } = needs;
  const bounds = new Map((await answered(admin.fetchTopicOffsets(topicName))).map(({ partition, low, high }) => [partition, { next: BigInt(low), end: BigInt(high) }]));
  const isRead = (): boolean => [...bounds.values()].every(({ next, end }) => next >= end);
  if (isRead()) return;

  let finish = (): void => undefined;
  let failure: { reason: unknown } | null = null;
  const finished = new Promise<void>((resolve) => (finish = resolve));
  const consumer = await startKafkaConsumer(needs, {
    startAt: (partition) => Promise.resolve(bounds.get(partition)!.next),
    async onRecords({ partition, records, keepAlive }) {
      const bound = bounds.get(partition)!;
      for (const record of records) {
        if (failure !== null || record.offset < bound.next || record.offset >= bound.end) continue;
        try {
          await onRecord(partition, record);
        } catch (reason) {
          failure = { reason };
        }
        bound.next = record.offset + 1n;
        await keepAlive();
      }
      if (failure !== null || isRead()) finish();
      return records.at(-1)!.offset + 1n;
    },
  });
  await finished;
  await consumer.stop();
  await answered(admin.deleteGroups([groupName])).catch((error: unknown) => log.debug({ err: messageOf(error) }, "could not delete the group of a scan; Kafka forgets it by itself"));
  if (failure !== null) throw (failure as { reason: unknown }).reason;
}
