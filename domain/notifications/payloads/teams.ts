import type { Notice, Tone } from "../notice.ts";
import { cutEscaped, cutText } from "../cut-text.ts";
import type { Payload, PayloadInput } from "./payload.ts";
import { postJson } from "./post-json.ts";
import { TEAMS } from "./vendor-limits.ts";

/** Where an Adaptive Card can be coloured is a container's style. */
const STYLES: Record<Tone, string> = { critical: "attention", error: "attention", warning: "warning", info: "accent", good: "good" };

/** What the Markdown of TextBlock and FactSet would take for itself. */
const MARKUP = /[\\*_[\]`~#]/;

/** An Adaptive Card 1.5 in the message that both Workflows and the older incoming webhooks take. */
export function teamsPayload({ config, notice, settings }: PayloadInput): Payload {
  let text = TEAMS.text;
  let message = messageWith(notice, text);
  // Characters that JSON or UTF-8 write long: with less of the text it fits.
  while (sizeOf(message) > TEAMS.bytes && text > 0) {
    text = Math.floor(text / 2);
    message = messageWith(notice, text);
  }
  return postJson(config.webhook_url, message, settings.WEBHOOK_ALLOW_HTTP);
}

/** In bytes, of UTF-8 or of UTF-16, whichever is more. */
function sizeOf(message: object): number {
  const json = JSON.stringify(message);
  return Math.max(Buffer.byteLength(json), json.length * 2);
}

function messageWith(notice: Notice, textLimit: number): object {
  const { link } = notice;
  const text = markdown(notice.text, textLimit);
  const facts = [...notice.fields.slice(0, TEAMS.fields - 1), { name: "Time", value: notice.when }].map(({ name, value }) => ({ title: cutText(name, 64), value: markdown(value, Math.min(TEAMS.field, Math.max(textLimit, 64))) }));
  const card = {
    $schema: "http://adaptivecards.io/schemas/adaptive-card.json",
    type: "AdaptiveCard",
    version: "1.5",
    msteams: { width: "Full" },
    fallbackText: cutText(notice.title, Math.min(TEAMS.title, 150)),
    body: [
      { type: "Container", style: STYLES[notice.tone], bleed: true, items: [{ type: "TextBlock", text: markdown(notice.title, TEAMS.title), size: "Large", weight: "Bolder", wrap: true }] },
      ...(text === "" ? [] : [{ type: "TextBlock", text, wrap: true }]),
      { type: "FactSet", facts },
      { type: "TextBlock", text: markdown(notice.source, 255), isSubtle: true, size: "Small", wrap: true },
    ],
    ...(link && { actions: [{ type: "Action.OpenUrl", title: link.label, url: link.url }] }),
  };
  return { type: "message", attachments: [{ contentType: "application/vnd.microsoft.card.adaptive", contentUrl: null, content: card }] };
}

/** A line's end stays one: Markdown needs two for it. */
function markdown(text: string, most: number): string {
  return cutEscaped(text, most, (character) => (MARKUP.test(character) ? `\\${character}` : character === "\n" ? "\n\n" : character));
}
