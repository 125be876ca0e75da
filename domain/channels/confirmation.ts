import type { channels } from "../../schemas/tables/all.ts";
import type { ChannelType } from "../../schemas/vocabulary.ts";

/** Whether a channel leads to a person who has to agree first. */
export function needsConfirmation(type: ChannelType): boolean {
  return type === "sms";
}

/** Whether a channel may be told things: the person behind it agreed, where one has to. */
export function isConfirmed({ type, confirmedAt }: Pick<typeof channels.$inferSelect, "type" | "confirmedAt">): boolean {
  return !needsConfirmation(type) || confirmedAt !== null;
}
