import { isRightToLeft, messagesOf } from "../../../domain/subscribers/messages/all.ts";
import type { IncidentSeverity, IncidentStatus, MaintenanceStatus, PageLanguage } from "../../../schemas/vocabulary.ts";
import type { PageAddresses } from "./addresses.ts";
import { fillIn, pageMessages } from "../messages/all.ts";

/** A status or a severity as a line begins with it. */
export function capitalWord(word: IncidentStatus | MaintenanceStatus | IncidentSeverity, language: PageLanguage): string {
  const text = wordOf(word, language);
  const [first = ""] = text;
  return first.toLocaleUpperCase(language) + text.slice(first.length);
}

function wordOf(word: IncidentStatus | MaintenanceStatus | IncidentSeverity, language: PageLanguage): string {
  if (word === "cancelled") return pageMessages(language).cancelled;
  return messagesOf(language)[word === "in_progress" ? "started" : word];
}

/** A text of a page's owner inside a sentence of ours: where their directions differ it keeps its own order (Unicode's isolates, UAX #9). */
export function isolated(text: string, language: PageLanguage): string {
  return isRightToLeft(language) === /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]/.test(text) ? text : `\u2068${text}\u2069`;
}

/** Where a maintenance is shown: it has no page of its own. */
export function maintenanceAddress(addresses: PageAddresses, id: string): string {
  return `${addresses.home}#${id}`;
}

/** Writes moments, and ranges of them, with their zone (IANA name) as people of the language do. */
export function momentFormat(language: PageLanguage, timezone: string): Intl.DateTimeFormat {
  return new Intl.DateTimeFormat(language, { year: "numeric", month: "short", day: "numeric", hour: "2-digit", minute: "2-digit", timeZone: timezone, timeZoneName: "short" });
}

/** Which services something is about; null when it is about none in particular. */
export function affectedServices(services: readonly { name: string }[], language: PageLanguage): string | null {
  return services.length === 0 ? null : fillIn(pageMessages(language).affects, { services: services.map(({ name }) => name).join(", ") });
}
