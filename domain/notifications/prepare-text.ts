import type { Config } from "../../platform/config.ts";
import type { Database } from "../../platform/postgres/database.ts";
import { issueCode } from "../channels/phone-code.ts";
import type { ClaimedChannel } from "./claim.ts";
import { describeMessage } from "./describe-event.ts";
import type { Notice } from "./notice.ts";
import { takeText } from "./take-text.ts";

interface TextNeeds {
  database: Database;
  config: Pick<Config, "SMS_PER_DAY">;
  at: Date;
}

/** A text message that may be sent, with the words that it says in place of its own; or why it may not. */
export type PreparedText = { kind: "ready"; notice: Notice | null } | { kind: "refused"; error: string };

/** Makes sure that a text message may be sent now, and counts it: the number is confirmed, or is sent its code, and the organization has messages left today. */
export async function prepareText(claimed: ClaimedChannel, isCode: boolean, { database, config, at }: TextNeeds): Promise<PreparedText> {
  if (!isCode && !claimed.confirmed) return { kind: "refused", error: "The phone number is not confirmed yet: give the code that was sent to it to POST …/confirm, or have another one sent by POST …/send-code." };
  if (isCode && claimed.confirmed) return { kind: "refused", error: "The phone number is confirmed already." };
  const usedUp = await takeText(database, claimed, isCode, config.SMS_PER_DAY, at);
  if (usedUp !== null) return { kind: "refused", error: usedUp };
  if (!isCode) return { kind: "ready", notice: null };
  const code = await issueCode(database, claimed, at);
  if (code === null) return { kind: "refused", error: "Another process sends this." };
  const text = "Somebody gave this number to be told of incidents. If it was not you, ignore this message.";
  const notice = describeMessage({ id: claimed.id, at, title: `Your code is ${code}`, text, tone: "info" }, claimed.settings);
  // Not in the organization's name, which whoever makes one chooses.
  return { kind: "ready", notice: { ...notice, source: "Pharos", link: null } };
}
