import { z } from "zod";

/**
 * What vendors publish about the requests they take, as far as a notification can use it: strict, so that a field they do not know fails.
 * Lengths are theirs, in characters; none is taken from the code that builds the requests.
 */

/** JSON that a parser of UTF-8 takes: no half of a surrogate pair. */
const Text = z.string().refine((text) => !/\p{Surrogate}/u.test(text), "holds half of a surrogate pair");
const Filled = Text.refine((text) => text.trim() !== "", "is blank");
const Link = z.url({ protocol: /^https?$/ });

/** https://docs.slack.dev/reference/block-kit/blocks and https://docs.slack.dev/messaging/formatting-message-text: & < > only as entities, or as a link. */
const Mrkdwn = Filled.refine((text) => !/[<>]/.test(text.replace(/<https?:\/\/[^<>|]+\|[^<>|]+>/g, "")) && !/&(?!amp;|lt;|gt;)/.test(text), "holds control characters of mrkdwn");
const slackText = (most: number) => z.strictObject({ type: z.literal("mrkdwn"), text: Mrkdwn.max(most) });
const SlackBlock = z.union([
  z.strictObject({ type: z.literal("header"), text: z.strictObject({ type: z.literal("plain_text"), text: Filled.max(150), emoji: z.boolean() }) }),
  z.strictObject({ type: z.literal("section"), text: slackText(3_000) }),
  z.strictObject({ type: z.literal("section"), fields: z.array(slackText(2_000)).min(1).max(10) }),
  z.strictObject({ type: z.literal("context"), elements: z.array(slackText(3_000)).min(1).max(10) }),
]);
export const SlackMessage = z.strictObject({
  text: Mrkdwn.max(40_000),
  blocks: z.array(SlackBlock).min(1).max(50),
  attachments: z.array(z.strictObject({ color: z.string().regex(/^#[0-9a-f]{6}$/), blocks: z.array(SlackBlock).min(1).max(50) })).max(100),
  unfurl_links: z.boolean(),
  unfurl_media: z.boolean(),
});

/** https://discord.com/developers/docs/resources/webhook#execute-webhook and …/resources/message#embed-object-embed-limits */
const DiscordEmbed = z.strictObject({
  title: Filled.max(256),
  description: Filled.max(4_096).optional(),
  url: Link.optional(),
  color: z.number().int().min(0).max(0xffffff),
  fields: z.array(z.strictObject({ name: Filled.max(256), value: Filled.max(1_024), inline: z.boolean() })).max(25),
  footer: z.strictObject({ text: Filled.max(2_048) }),
  timestamp: z.iso.datetime(),
});
export const DiscordMessage = z
  .strictObject({ embeds: z.array(DiscordEmbed).min(1).max(10), allowed_mentions: z.strictObject({ parse: z.tuple([]) }) })
  .refine(({ embeds }) => embeds.reduce((sum, { title, description = "", footer, fields }) => sum + title.length + description.length + footer.text.length + fields.reduce((all, { name, value }) => all + name.length + value.length, 0), 0) <= 6_000, "is longer than 6000 characters in all");

/** https://adaptivecards.io/schemas/adaptive-card.json at 1.5, and Teams' message around it, of at most 28 KB. */
const TextBlock = z.strictObject({ type: z.literal("TextBlock"), text: Filled, wrap: z.boolean(), size: z.enum(["Default", "Small", "Medium", "Large", "ExtraLarge"]).optional(), weight: z.enum(["Default", "Lighter", "Bolder"]).optional(), isSubtle: z.boolean().optional() });
const AdaptiveCard = z.strictObject({
  $schema: z.literal("http://adaptivecards.io/schemas/adaptive-card.json"),
  type: z.literal("AdaptiveCard"),
  version: z.literal("1.5"),
  msteams: z.strictObject({ width: z.literal("Full") }),
  fallbackText: Filled,
  body: z.array(
    z.union([
      TextBlock,
      z.strictObject({ type: z.literal("Container"), style: z.enum(["default", "emphasis", "good", "attention", "warning", "accent"]), bleed: z.boolean(), items: z.array(TextBlock).min(1) }),
      z.strictObject({ type: z.literal("FactSet"), facts: z.array(z.strictObject({ title: Filled, value: Filled })).min(1) }),
    ]),
  ),
  actions: z.array(z.strictObject({ type: z.literal("Action.OpenUrl"), title: Filled, url: Link })).min(1).optional(),
});
export const TeamsMessage = z
  .strictObject({ type: z.literal("message"), attachments: z.tuple([z.strictObject({ contentType: z.literal("application/vnd.microsoft.card.adaptive"), contentUrl: z.null(), content: AdaptiveCard })]) })
  .refine((message) => Buffer.byteLength(JSON.stringify(message)) <= 28_000 && JSON.stringify(message).length * 2 <= 28_000, "is larger than 28 KB");

/** https://developer.pagerduty.com/docs/events-api-v2/trigger-events/ and …/acknowledge-and-resolve-events/; an event has at most 512 KB. */
const pagerdutyKeys = { routing_key: Filled, dedup_key: Filled.max(255) };
export const PagerdutyEvent = z
  .discriminatedUnion("event_action", [
    z.strictObject({
      ...pagerdutyKeys,
      event_action: z.literal("trigger"),
      payload: z.strictObject({ summary: Filled.max(1_024), source: Filled, severity: z.enum(["critical", "error", "warning", "info"]), timestamp: z.iso.datetime(), class: z.string(), custom_details: z.record(z.string(), Text) }),
      links: z.array(z.strictObject({ href: Link, text: Filled })),
      client: z.string(),
    }),
    z.strictObject({ ...pagerdutyKeys, event_action: z.literal("resolve") }),
  ])
  .refine((event) => Buffer.byteLength(JSON.stringify(event)) <= 512 * 1_024, "is larger than 512 KB");

/** https://www.twilio.com/docs/messaging/api/message-resource#create-a-message-resource: a body of at most 1600 characters. */
export const SmsMessage = z.strictObject({ To: z.string().regex(/^\+[1-9]\d{6,14}$/), From: z.string().min(1), Body: Filled.max(1_600) });
