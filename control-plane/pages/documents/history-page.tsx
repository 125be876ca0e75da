import type { PageRecord, PublicMaintenance } from "../../../domain/status-pages/public-page.ts";
import { fillIn } from "../messages/all.ts";
import type { Drawing } from "./drawing.ts";
import { capitalWord, isolated } from "./words.ts";
import { PageBody } from "./page-body.tsx";
import { Footer } from "../sections/footer.tsx";
import { Header } from "../sections/header.tsx";
import { PastIncident } from "../sections/incident-history.tsx";
import { Affected } from "../sections/incidents.tsx";
import { Span } from "../sections/moment.tsx";

/** What the history is made of. */
export interface HistoryModel {
  page: { name: string; tagline: string | null };
  /** `YYYY-MM` with what began in it, latest first. */
  months: { month: string; record: PageRecord }[];
  /** The month to show for what is older, and for what is newer; null when there is nothing. */
  older: string | null;
  newer: string | null;
}

/** What happened on a page, month by month. */
export function HistoryPage({ drawing, model: { page, months, older, newer } }: { drawing: Drawing; model: HistoryModel }) {
  const { words, formats, addresses } = drawing;
  return (
    <PageBody drawing={drawing} header={<Header drawing={drawing} page={page} heading={false} />} footer={<Footer drawing={drawing} />}>
      <h1>{words.history}</h1>
      {months.map(({ month, record: { incidents, maintenance } }) => (
        <section id={`month-${month}`} data-live="" aria-labelledby={`title-${month}`}>
          <h2 id={`title-${month}`}>{formats.month(month)}</h2>
          {incidents.length + maintenance.length === 0 && <p class="quiet">{words.no_history}</p>}
          {[
            ...incidents.map((incident) => ({ at: incident.startedAt, entry: <PastIncident drawing={drawing} incident={incident} /> })),
            ...maintenance.map((window) => ({ at: window.startsAt, entry: <PastMaintenance drawing={drawing} window={window} /> })),
          ]
            .toSorted((one, other) => other.at.localeCompare(one.at))
            .map(({ entry }) => entry)}
        </section>
      ))}
      <nav class="months" aria-label={words.history}>
        {older !== null && (
          <a rel="prev" href={addresses.history(older)}>
            {words.older}
          </a>
        )}
        {newer !== null && (
          <a rel="next" href={addresses.history(newer)}>
            {words.newer}
          </a>
        )}
      </nav>
      <p>
        <a href={addresses.home}>{fillIn(words.back, { page: isolated(page.name, drawing.language) })}</a>
      </p>
    </PageBody>
  );
}

function PastMaintenance({ drawing, window }: { drawing: Drawing; window: PublicMaintenance }) {
  const { id, title, status, startsAt, endsAt, services } = window;
  return (
    <article id={id} class="card happening maintenance">
      <h3>
        <bdi>{title}</bdi>
      </h3>
      <p class="quiet">
        <span class="status maintenance">{drawing.words.maintenance}</span> · {capitalWord(status, drawing.language)} · <Span from={startsAt} to={endsAt} formats={drawing.formats} />
      </p>
      <Affected drawing={drawing} services={services} />
    </article>
  );
}
