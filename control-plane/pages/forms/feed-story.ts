import type { PublicIncident, PublicMaintenance, PublicUpdate } from "../../../domain/status-pages/public-page.ts";
import { html, lines, type Html } from "../../../domain/mail/html.ts";
import type { IncidentStatus, MaintenanceStatus, PageLanguage } from "../../../schemas/vocabulary.ts";
import { fillIn, pageMessages } from "../messages/all.ts";
import { affectedServices, capitalWord, momentFormat } from "../documents/words.ts";

interface Stories {
  ofIncident(incident: PublicIncident): string;
  ofMaintenance(maintenance: PublicMaintenance): string;
}

/**
 * Tells what happened as HTML for readers of feeds: what it is, whom it affects, and its updates, newest first. Every text in it is escaped, so none
 * of it holds `]]>`. Times are in the zone (IANA name) and written as in the language; each paragraph runs in the direction of its own words.
 */
export function makeStories(language: PageLanguage, timezone: string): Stories {
  const messages = pageMessages(language);
  const format = momentFormat(language, timezone);
  const time = (at: string) => format.format(new Date(at));
  const range = (from: string, to: string) => format.formatRange(new Date(from), new Date(to));

  const affects = (services: { name: string }[]): Html[] => {
    const sentence = affectedServices(services, language);
    return sentence === null ? [] : [paragraph(html`${sentence}`)];
  };
  const tell = (updates: PublicUpdate<IncidentStatus | MaintenanceStatus>[]): Html[] =>
    updates.map(({ status, message, createdAt }) => paragraph(html`<b>${capitalWord(status, language)}</b> · <time datetime="${createdAt}">${time(createdAt)}</time><br>${lines(message)}`));

  return {
    ofIncident({ status, severity, startedAt, resolvedAt, services, updates }) {
      const when = resolvedAt === null ? fillIn(messages.since, { time: time(startedAt) }) : range(startedAt, resolvedAt);
      return together([paragraph(html`<b>${capitalWord(status, language)}</b> · ${capitalWord(severity, language)} · ${when}`), ...affects(services), ...tell(updates)]);
    },
    ofMaintenance({ status, startsAt, endsAt, description, services, updates }) {
      const what = description === "" ? [] : [paragraph(lines(description))];
      return together([paragraph(html`<b>${capitalWord(status, language)}</b> · ${range(startsAt, endsAt)}`), ...what, ...affects(services), ...tell(updates)]);
    },
  };
}

function paragraph(content: Html): Html {
  return html`<p dir="auto">${content}</p>`;
}

function together(paragraphs: Html[]): string {
  return html`${paragraphs}`.html;
}
