import { COLOURS, type Notice } from "../notice.ts";
import { cutEscaped, cutText } from "../cut-text.ts";
import type { Payload, PayloadInput } from "./payload.ts";
import { postJson } from "./post-json.ts";
import { SLACK } from "./vendor-limits.ts";

/** The three characters that control Slack's mrkdwn: without them a text can neither mention anybody nor hide where a link goes. */
const ENTITIES: Record<string, string> = { "&": "&amp;", "<": "&lt;", ">": "&gt;" };

/** Block Kit: the title as a header, the rest beside a bar in the notice's colour; `text` is what a notification on a phone shows. */
export function slackPayload({ config, notice, settings }: PayloadInput): Payload {
  const body = {
    text: mrkdwn(notice.text === "" ? notice.title : `${notice.title}: ${notice.text}`, SLACK.fallback),
    blocks: [{ type: "header", text: { type: "plain_text", text: cutText(notice.title, SLACK.header), emoji: true } }],
    attachments: [{ color: COLOURS[notice.tone], blocks: detailBlocks(notice) }],
    unfurl_links: false,
    unfurl_media: false,
  };
  return postJson(config.webhook_url, body, settings.WEBHOOK_ALLOW_HTTP);
}

function detailBlocks({ text, fields, link, when, source }: Notice): object[] {
  const context = [source, when].map((each) => mrkdwn(each, 500)).concat(link ? `<${mrkdwn(link.url, 2_000)}|${mrkdwn(link.label, 100)}>` : []);
  return [
    ...(text === "" ? [] : [{ type: "section", text: { type: "mrkdwn", text: mrkdwn(text, SLACK.text) } }]),
    ...(fields.length === 0 ? [] : [{ type: "section", fields: fields.slice(0, SLACK.fields).map(({ name, value }) => ({ type: "mrkdwn", text: `*${mrkdwn(name, 100)}*\n${mrkdwn(value, SLACK.field - 110)}` })) }]),
    { type: "context", elements: context.map((each) => ({ type: "mrkdwn", text: each })) },
  ];
}

function mrkdwn(text: string, most: number): string {
  return cutEscaped(text, most, (character) => ENTITIES[character] ?? character);
}
