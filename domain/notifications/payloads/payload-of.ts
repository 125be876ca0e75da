import type { ChannelType } from "../../../schemas/vocabulary.ts";
import { discordPayload } from "./discord.ts";
import { pagerdutyPayload } from "./pagerduty.ts";
import type { Payload, PayloadInput } from "./payload.ts";
import { slackPayload } from "./slack.ts";
import { smsPayload } from "./sms.ts";
import { teamsPayload } from "./teams.ts";
import { webhookPayload } from "./webhook.ts";

const PAYLOADS: Record<ChannelType, (input: PayloadInput) => Payload> = {
  slack: slackPayload,
  discord: discordPayload,
  teams: teamsPayload,
  pagerduty: pagerdutyPayload,
  sms: smsPayload,
  webhook: webhookPayload,
};

/** The request that tells a channel of a type a notice, within its vendor's limits. */
export function payloadOf(type: ChannelType, input: PayloadInput): Payload {
  return PAYLOADS[type](input);
}
