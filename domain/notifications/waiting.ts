import type { events, notifications } from "../../schemas/tables/all.ts";
import type { NotificationTrigger } from "../../schemas/vocabulary.ts";
import { describeEvent, describeMessage, type NoticeSettings } from "./describe-event.ts";
import type { Notice } from "./notice.ts";
import type { PayloadInput } from "./payloads/payload.ts";

/** A notification that waits, as its channel will be told it. */
export interface WaitingNotification {
  id: string;
  trigger: NotificationTrigger;
  firstAttemptAt: Date | null;
  notice: Notice;
  origin: PayloadInput["origin"];
}

interface Row {
  notification: typeof notifications.$inferSelect;
  event: typeof events.$inferSelect | null;
}

/** A title is a line of at most so many characters; what is longer is text. */
const LONGEST_TITLE = 150;

export function readWaiting(rows: readonly Row[], channelName: string, settings: NoticeSettings): WaitingNotification[] {
  return rows.map(({ notification: { id, trigger, firstAttemptAt, message, createdAt, channelId }, event }) => {
    if (event) return { id, trigger, firstAttemptAt, notice: describeEvent(event, settings), origin: { id: event.id, event: event.type, at: event.createdAt, data: event.data } };
    const said = message ?? "";
    const origin = { id, event: trigger === "test" ? "notification.test" : "notification.message", at: createdAt, data: { channel_id: channelId, channel: channelName, message: said, trigger } };
    return { id, trigger, firstAttemptAt, notice: describeMessage({ id, at: createdAt, ...titled(said, trigger), tone: trigger === "test" ? "info" : "warning" }, settings), origin };
  });
}

/** The first line as the title, and the rest as text; all of it as text too when that line was too long. */
function titled(said: string, trigger: NotificationTrigger): { title: string; text: string } {
  if (trigger === "test") return { title: "Test notification", text: said };
  const [line = "", ...rest] = said.trim().split("\n");
  return { title: line, text: line.length > LONGEST_TITLE ? said : rest.join("\n") };
}
