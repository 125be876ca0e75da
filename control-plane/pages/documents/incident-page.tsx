import type { PublicIncident } from "../../../domain/status-pages/public-page.ts";
import { fillIn } from "../messages/all.ts";
import type { Drawing } from "./drawing.ts";
import { capitalWord, isolated } from "./words.ts";
import { PageBody } from "./page-body.tsx";
import { Footer } from "../sections/footer.tsx";
import { Header } from "../sections/header.tsx";
import { secondsBetween } from "../sections/incident-history.tsx";
import { Affected, Severity } from "../sections/incidents.tsx";
import { Moment } from "../sections/moment.tsx";
import { Updates } from "../sections/updates.tsx";

/** What an incident's own page is made of. */
export interface IncidentModel {
  page: { name: string; tagline: string | null };
  incident: PublicIncident;
}

/** One incident with all that was said about it. */
export function IncidentPage({ drawing, model: { page, incident } }: { drawing: Drawing; model: IncidentModel }) {
  const { words, formats, addresses } = drawing;
  const { title, status, startedAt, resolvedAt, services, updates } = incident;
  return (
    <PageBody drawing={drawing} header={<Header drawing={drawing} page={page} heading={false} />} footer={<Footer drawing={drawing} />}>
      <article id="incident" data-live="" class={`card happening ${incident.severity}`}>
        <h1>
          <bdi>{title}</bdi>
        </h1>
        <p class="quiet">
          <Severity drawing={drawing} incident={incident} /> · {capitalWord(status, drawing.language)}
        </p>
        <Affected drawing={drawing} services={services} />
        <dl class="facts">
          <dt>{words.started_at}</dt>
          <dd>
            <Moment at={startedAt} formats={formats} />
          </dd>
          {resolvedAt !== null && (
            <>
              <dt>{words.resolved_at}</dt>
              <dd>
                <Moment at={resolvedAt} formats={formats} />
              </dd>
              <dt>{words.lasted}</dt>
              <dd>{formats.duration(secondsBetween(startedAt, resolvedAt))}</dd>
            </>
          )}
        </dl>
        {updates.length > 0 && <h2>{words.updates}</h2>}
        <Updates drawing={drawing} updates={updates} />
      </article>
      <p>
        <a href={addresses.home}>{fillIn(words.back, { page: isolated(page.name, drawing.language) })}</a>
      </p>
    </PageBody>
  );
}
