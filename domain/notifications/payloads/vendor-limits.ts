import type { ChannelType } from "../../../schemas/vocabulary.ts";

interface Pace {
  /** A channel is told the next thing so many ms after the last at the earliest. */
  everyMs: number;
  /** When more than so many wait for a channel they are told together; null never. */
  togetherAbove: number | null;
}

/** How often each vendor lets itself be told something, as it publishes it, and from when on one message serves for many. */
export const PACES: Record<ChannelType, Pace> = {
  // One a second for an incoming webhook; short bursts may be more. https://docs.slack.dev/apis/web-api/rate-limits
  slack: { everyMs: 1_000, togetherAbove: 5 },
  // 5 in 2 s and 30 in a minute for a webhook; the second is the tighter one. https://discord.com/developers/docs/topics/rate-limits
  discord: { everyMs: 2_000, togetherAbove: 5 },
  // Four a second. https://learn.microsoft.com/microsoftteams/platform/webhooks-and-connectors/how-to/connectors-using#rate-limiting-for-connectors
  teams: { everyMs: 250, togetherAbove: 5 },
  // 120 events a minute for a routing key. Alerts are never one message, but what is over when it is told need not wake anybody.
  pagerduty: { everyMs: 500, togetherAbove: 5 },
  // A long number sends one a second; ten a minute are as many as somebody can read.
  sms: { everyMs: 6_000, togetherAbove: 2 },
  // Somebody's own program.
  webhook: { everyMs: 0, togetherAbove: null },
};

/** https://docs.slack.dev/reference/block-kit/blocks, in characters. */
export const SLACK = { header: 150, text: 3_000, fields: 10, field: 2_000, fallback: 3_000 };

/** https://discord.com/developers/docs/resources/message#embed-object-embed-limits, in characters. */
export const DISCORD = { title: 256, description: 4_096, fields: 25, fieldName: 256, fieldValue: 1_024, footer: 2_048, total: 6_000 };

/**
 * 28 KB for a message; what is sent is counted in UTF-16 there, and so are its characters here.
 * https://learn.microsoft.com/microsoftteams/platform/webhooks-and-connectors/how-to/connectors-using
 */
export const TEAMS = { bytes: 28_000, title: 500, text: 8_000, fields: 10, field: 500 };

/** https://developer.pagerduty.com/docs/events-api-v2/trigger-events/, in characters. */
export const PAGERDUTY = { summary: 1_024, source: 255, detail: 10_000, linkText: 255 };

/** Of one segment alone and of each in a row (3GPP TS 23.040), by alphabet: septets of GSM 03.38 and units of UCS-2. */
export const SMS = { segments: 3, gsm: { alone: 160, each: 153 }, ucs2: { alone: 70, each: 67 } };
