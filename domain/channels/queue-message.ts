import { newId } from "../../platform/ids.ts";
import type { Transaction } from "../../platform/postgres/database.ts";
import { notifications } from "../../schemas/tables/all.ts";
import type { NotificationTrigger } from "../../schemas/vocabulary.ts";

interface ChannelMessage {
  organizationId: string;
  /** Of the organization; the caller has made sure. */
  channelId: string;
  /** Plain text, as people shall read it. */
  text: string;
  trigger: Exclude<NotificationTrigger, "event">;
  at: Date;
}

/** Plans to tell a channel a text, due at once, and returns the notification's id. Whether the channel is enabled is seen when it is sent. */
export async function queueMessage(tx: Transaction, { organizationId, channelId, text, trigger, at }: ChannelMessage): Promise<string> {
  const id = newId();
  await tx.insert(notifications).values({ id, organizationId, channelId, message: text, trigger, dueAt: at, createdAt: at });
  return id;
}
