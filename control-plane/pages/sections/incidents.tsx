import type { PublicIncident, PublicPage } from "../../../domain/status-pages/public-page.ts";
import { fillIn } from "../messages/all.ts";
import type { Drawing } from "../documents/drawing.ts";
import { capitalWord, isolated } from "../documents/words.ts";
import { Filled } from "./filled.tsx";
import { Moment } from "./moment.tsx";
import { Updates } from "./updates.tsx";

/** Updates that a page itself shows of an open incident. */
const SHOWN_UPDATES = 10;

/** What is not resolved, with what was said about it. */
export function ActiveIncidents({ drawing, page }: { drawing: Drawing; page: PublicPage }) {
  const open = page.incidents.filter(({ status }) => status !== "resolved");
  return (
    <section id="open-incidents" data-live="" aria-labelledby="open-incidents-title">
      <h2 id="open-incidents-title">{drawing.words.open_incidents}</h2>
      {open.length === 0 && <p class="quiet">{drawing.words.no_open_incidents}</p>}
      {open.map((incident) => (
        <OpenIncident drawing={drawing} incident={incident} />
      ))}
    </section>
  );
}

function OpenIncident({ drawing, incident }: { drawing: Drawing; incident: PublicIncident }) {
  const { words, addresses, formats } = drawing;
  const { id, title, startedAt, updates } = incident;
  return (
    <article class={`card happening ${incident.severity}`}>
      <h3>
        <a href={addresses.incident(id)}>
          <bdi>{title}</bdi>
        </a>
      </h3>
      <p class="quiet">
        <Severity drawing={drawing} incident={incident} /> · {capitalWord(incident.status, drawing.language)} ·{" "}
        <Filled message={words.since} name="time">
          <Moment at={startedAt} formats={formats} />
        </Filled>
      </p>
      <Affected drawing={drawing} services={incident.services} />
      <Updates drawing={drawing} updates={updates.slice(0, SHOWN_UPDATES)} />
      {updates.length > SHOWN_UPDATES && (
        <p>
          <a href={addresses.incident(id)}>{words.more_updates}</a>
        </p>
      )}
    </article>
  );
}

export function Severity({ drawing, incident: { severity } }: { drawing: Drawing; incident: Pick<PublicIncident, "severity"> }) {
  return <span class={`status ${severity}`}>{capitalWord(severity, drawing.language)}</span>;
}

export function Affected({ drawing: { words, formats, language }, services }: { drawing: Drawing; services: readonly { name: string }[] }) {
  if (services.length === 0) return null;
  return <p class="quiet">{fillIn(words.affects, { services: formats.list(services.map(({ name }) => isolated(name, language))) })}</p>;
}
