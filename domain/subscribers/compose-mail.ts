import { contrastRatio } from "../designs/contrast.ts";
import { html, lines, type Html } from "../mail/html.ts";
import type { StatusPageRow } from "../status-pages/columns.ts";
import type { Happening } from "./happening.ts";
import { fill, isRightToLeft, messagesOf, type Messages } from "./messages/all.ts";
import { neutralName } from "./neutral-name.ts";
import type { PageLinks } from "./page-links.ts";

interface ComposedMail {
  subject: string;
  text: string;
  html: string;
  headers: Record<string, string>;
}

type MailedPage = Pick<StatusPageRow, "name" | "primaryColor" | "language">;

interface Announcement {
  page: MailedPage;
  links: PageLinks;
  happening: Happening;
  /** Names of the affected services that the page shows. */
  affected: string[];
  timezone: string;
  /** The subscriber's own. */
  token: string;
}

/** The mail that tells a subscriber of an event, in its page's language, its times in the organization's zone. Pure. */
export function announcementMail({ page, links, happening, affected, timezone, token }: Announcement): ComposedMail {
  const words = messagesOf(page.language);
  const status = statusWord(words, happening);
  const facts = [
    ...(happening.incident ? [{ label: words.severity, value: words[happening.incident.severity] }] : []),
    ...(affected.length > 0 ? [{ label: words.affected, value: affected.join(", ") }] : []),
    { label: words.time, value: timeOf(happening, page.language, timezone) },
  ];
  const why = fill(words.why, { page: page.name });
  const own = links.own(token);
  const more = links.happening(happening);
  return {
    subject: `[${page.name}] ${happening.title}: ${status}`,
    text: textPart([happening.title, status, happening.message, facts.map(({ label, value }) => `${label}: ${value}`).join("\n"), `${words.viewPage}: ${more}`, `-- \n${why}\n${words.leave}: ${own}`]),
    html: layout(page, [
      html`<h1 style="margin:0 0 4px;font-size:20px;line-height:1.3">${happening.title}</h1>`,
      html`<p style="margin:0 0 16px;font-weight:bold">${status}</p>`,
      ...(happening.message === "" ? [] : [html`<p style="margin:0 0 16px">${lines(happening.message)}</p>`]),
      html`<p style="margin:0 0 24px;color:#60646c">${facts.map(({ label, value }) => html`${label}: ${value}<br>`)}</p>`,
      button(page, more, words.viewPage),
    ], html`${why}<br><a href="${own}" style="color:#60646c">${words.leave}</a>`),
    headers: { "List-Id": links.listId, "List-Unsubscribe": `<${own}>`, "List-Unsubscribe-Post": "List-Unsubscribe=One-Click", "Content-Language": page.language },
  };
}

/**
 * The mail that asks whether an address wants to hear of a page. Its reader may be a stranger to the page, whose owner is none of ours: of
 * what the owner wrote it holds the name alone, neutralised. Pure.
 */
export function confirmationMail({ page, links, token }: { page: MailedPage & { id: string }; links: PageLinks; token: string }): ComposedMail {
  const words = messagesOf(page.language);
  const name = neutralName(page);
  const subject = fill(words.confirmSubject, { page: name });
  const ask = fill(words.confirmText, { page: name });
  const from = fill(words.confirmFrom, { page: name });
  const link = links.confirm(token);
  return {
    subject,
    text: textPart([ask, link, `-- \n${from}\n${words.confirmIgnore}`]),
    html: layout({ ...page, name }, [html`<h1 style="margin:0 0 16px;font-size:20px;line-height:1.3">${subject}</h1>`, html`<p style="margin:0 0 24px">${ask}</p>`, button(page, link, words.confirmButton)], html`${from}<br>${words.confirmIgnore}`),
    headers: { "Content-Language": page.language },
  };
}

function statusWord(words: Messages, { type, incident, maintenance }: Happening): string {
  if (incident) return words[incident.status];
  if (maintenance?.reminder) return words.reminder;
  return type === "maintenance.started" ? words.started : type === "maintenance.completed" ? words.completed : words.scheduled;
}

/** When it was, or from when to when it will be. */
function timeOf({ at, maintenance }: Happening, language: string, timeZone: string): string {
  const format = new Intl.DateTimeFormat(language, { year: "numeric", month: "long", day: "numeric", hour: "2-digit", minute: "2-digit", timeZone, timeZoneName: "short" });
  return maintenance ? format.formatRange(maintenance.startsAt, maintenance.endsAt) : format.format(at);
}

function button({ primaryColor }: MailedPage, href: string, text: string): Html {
  const color = contrastRatio(primaryColor, "#ffffff") >= contrastRatio(primaryColor, "#1c2024") ? "#ffffff" : "#1c2024";
  return html`<p style="margin:0"><a href="${href}" style="display:inline-block;padding:10px 18px;border-radius:6px;background:${primaryColor};color:${color};text-decoration:none;font-weight:bold">${text}</a></p>`;
}

/** One column that every client shows, with the page's color above. */
function layout({ name, language, primaryColor }: MailedPage, body: Html[], foot: Html): string {
  const direction = isRightToLeft(language) ? "rtl" : "ltr";
  return html`<!doctype html>
<html lang="${language}" dir="${direction}">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><title>${name}</title></head>
<body style="margin:0;padding:24px 12px;background:#f4f4f5;color:#1c2024;font:16px/1.5 system-ui,-apple-system,'Segoe UI',Roboto,sans-serif">
<div style="max-width:560px;margin:0 auto;background:#ffffff;border-top:6px solid ${primaryColor};border-radius:8px;padding:24px">
<p style="margin:0 0 16px;color:#60646c">${name}</p>
${body}
</div>
<p style="max-width:560px;margin:16px auto 0;padding:0 24px;color:#60646c;font-size:13px">${foot}</p>
</body>
</html>
`.html;
}

/** The text part of a mail: its paragraphs, those that are empty left out. */
function textPart(paragraphs: readonly string[]): string {
  return `${paragraphs.filter((paragraph) => paragraph !== "").join("\n\n")}\n`;
}
