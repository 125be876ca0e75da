import { COLOURS } from "../notice.ts";
import { cutEscaped, cutText } from "../cut-text.ts";
import type { Payload, PayloadInput } from "./payload.ts";
import { postJson } from "./post-json.ts";
import { DISCORD } from "./vendor-limits.ts";

/** What Discord's Markdown would take for itself. */
const MARKUP = /[\\*_~`|[\]()<>#]/;

/** So much of a field is shown; few texts are longer, and all fields together stay far below the embed's total. */
const SHOWN = { fields: 8, name: 64, value: 256, footer: 256 };

/** One embed with the notice's colour; nobody is mentioned, whatever its texts hold. */
export function discordPayload({ config, notice, settings }: PayloadInput): Payload {
  const title = markdown(notice.title, DISCORD.title);
  const fields = notice.fields.slice(0, SHOWN.fields).map(({ name, value }) => ({ name: cutText(name, SHOWN.name), value: markdown(value, SHOWN.value), inline: value.length <= 32 }));
  const footer = cutText(notice.source, SHOWN.footer);
  const taken = title.length + footer.length + fields.reduce((sum, { name, value }) => sum + name.length + value.length, 0);
  const description = markdown(notice.text, Math.min(DISCORD.description, DISCORD.total - taken));
  const embed = {
    title,
    ...(description !== "" && { description }),
    ...(notice.link && { url: notice.link.url }),
    color: Number.parseInt(COLOURS[notice.tone].slice(1), 16),
    fields,
    footer: { text: footer },
    timestamp: notice.at.toISOString(),
  };
  return postJson(config.webhook_url, { embeds: [embed], allowed_mentions: { parse: [] } }, settings.WEBHOOK_ALLOW_HTTP);
}

function markdown(text: string, most: number): string {
  return cutEscaped(text, most, (character) => (MARKUP.test(character) ? `\\${character}` : character));
}
