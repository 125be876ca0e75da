import type { PublicMaintenance, PublicPage } from "../../../domain/status-pages/public-page.ts";
import type { Drawing } from "../documents/drawing.ts";
import { capitalWord } from "../documents/words.ts";
import { Affected } from "./incidents.tsx";
import { Message } from "./message.tsx";
import { Span } from "./moment.tsx";
import { Updates } from "./updates.tsx";

/** What is being maintained, and what will be. */
export function ScheduledMaintenance({ drawing, page: { maintenance } }: { drawing: Drawing; page: PublicPage }) {
  return (
    <section id="maintenance" data-live="" aria-labelledby="maintenance-title">
      <h2 id="maintenance-title">{drawing.words.planned}</h2>
      {maintenance.length === 0 && <p class="quiet">{drawing.words.no_planned}</p>}
      {maintenance.map((window) => (
        <Maintenance drawing={drawing} window={window} />
      ))}
    </section>
  );
}

function Maintenance({ drawing, window }: { drawing: Drawing; window: PublicMaintenance }) {
  const { id, title, description, status, startsAt, endsAt, services, updates } = window;
  return (
    <article id={id} class={`card happening ${status === "in_progress" ? "maintenance" : ""}`}>
      <h3>
        <bdi>{title}</bdi>
      </h3>
      <p class="quiet">
        <span class={`status ${status === "in_progress" ? "maintenance" : ""}`}>{capitalWord(status, drawing.language)}</span> · <Span from={startsAt} to={endsAt} formats={drawing.formats} />
      </p>
      <Affected drawing={drawing} services={services} />
      {description && <Message text={description} />}
      <Updates drawing={drawing} updates={updates} />
    </article>
  );
}
