import type { Topic } from "../../schemas/vocabulary.ts";

/** A consumer group on one topic of one log. */
export interface ConsumerName {
  group: string;
  logId: string;
  topic: Topic;
}

/** The log that rows name: rows of two topics in one table must not be taken for each other. */
export function logOfRows({ logId, topic }: Pick<ConsumerName, "logId" | "topic">): string {
  return topic === "beacons-overflow" ? `${logId}/overflow` : logId;
}

/** Another consumer took a partition over: what this one was about to write did not happen. */
export class LeaseLost extends Error {
  constructor({ group, topic }: ConsumerName, reason: string) {
    super(`${group} lost its lease on ${topic}: ${reason}`);
    this.name = "LeaseLost";
  }
}
