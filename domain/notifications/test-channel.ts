import { setTimeout as pause } from "node:timers/promises";
import { inTransaction, type Database } from "../../platform/postgres/database.ts";
import type { Notification } from "../../schemas/api/notifications.ts";
import { queueMessage } from "../channels/queue-message.ts";
import { lockChannel } from "../channels/read.ts";
import { getNotification } from "./read.ts";

/**
 * Tells a channel that this is a test, before all that waits for it, once, and also when it is disabled; waits until that is recorded, at most
 * `waitMs`: then the notification is shown pending. NOT_FOUND.
 */
export async function testChannel(database: Database, organizationId: string, channelId: string, { at, waitMs }: { at: Date; waitMs: number }): Promise<Notification> {
  const id = await inTransaction(database, async (tx) => {
    const channel = await lockChannel(tx, organizationId, channelId);
    return queueMessage(tx, { organizationId, channelId: channel.id, text: `This is a test of the channel "${channel.name}". Nothing happened.`, trigger: "test", at });
  });
  return untilRecorded(database, organizationId, id, waitMs);
}

/** Asks Postgres: whoever tells the channel may be another process. */
async function untilRecorded(database: Database, organizationId: string, id: string, waitMs: number): Promise<Notification> {
  const deadline = performance.now() + waitMs;
  for (let restMs = 20; ; restMs = Math.min(restMs * 1.5, 250)) {
    const notification = await getNotification(database, organizationId, id);
    if (notification.status !== "pending" || performance.now() >= deadline) return notification;
    await pause(restMs);
  }
}
