import { PAST_DAYS, type PublicIncident, type PublicPage } from "../../../domain/status-pages/public-page.ts";
import { fillIn } from "../messages/all.ts";
import type { Drawing } from "../documents/drawing.ts";
import { capitalWord } from "../documents/words.ts";
import { Affected, Severity } from "./incidents.tsx";
import { Message } from "./message.tsx";
import { Moment } from "./moment.tsx";

/** Incidents that were resolved lately, and the way to all others. */
export function IncidentHistory({ drawing, page }: { drawing: Drawing; page: PublicPage }) {
  const { words, addresses, formats, look } = drawing;
  const past = page.incidents.filter(({ status }) => status === "resolved");
  return (
    <section id="past-incidents" data-live="" aria-labelledby="past-incidents-title">
      <h2 id="past-incidents-title">{words.past}</h2>
      {past.length === 0 && <p class="quiet">{fillIn(words.no_past, { days: formats.count(PAST_DAYS) })}</p>}
      {past.map((incident) => (
        <PastIncident drawing={drawing} incident={incident} />
      ))}
      {!look.sections.includes("footer") && (
        <p>
          <a href={addresses.history()}>{words.history}</a>
        </p>
      )}
    </section>
  );
}

/** An incident in few lines: what it was, how long, and the last that was said about it. */
export function PastIncident({ drawing, incident }: { drawing: Drawing; incident: PublicIncident }) {
  const { words, addresses, formats } = drawing;
  const { id, title, status, startedAt, resolvedAt, services, updates } = incident;
  return (
    <article class={`card happening ${incident.severity}`}>
      <h3>
        <a href={addresses.incident(id)}>
          <bdi>{title}</bdi>
        </a>
      </h3>
      <p class="quiet">
        <Severity drawing={drawing} incident={incident} /> · {capitalWord(status, drawing.language)} · <Moment at={startedAt} formats={formats} />
        {resolvedAt !== null && ` · ${words.lasted}: ${formats.duration(secondsBetween(startedAt, resolvedAt))}`}
      </p>
      <Affected drawing={drawing} services={services} />
      {updates[0] && <Message text={updates[0].message} />}
    </article>
  );
}

export function secondsBetween(from: string, to: string): number {
  return (Date.parse(to) - Date.parse(from)) / 1000;
}
