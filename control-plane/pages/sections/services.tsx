import type { PageUptime, PublicPage, PublicService } from "../../../domain/status-pages/public-page.ts";
import type { Drawing } from "../documents/drawing.ts";
import { Message } from "./message.tsx";
import { UptimeBars, UptimeDetails } from "./uptime-bars.tsx";

interface ServicesProps {
  drawing: Drawing;
  page: PublicPage;
  uptime: PageUptime;
}

/** The page's services and how each is; with their uptime when that section follows at once. */
export function ServicesList({ drawing, page: { services }, uptime, withUptime }: ServicesProps & { withUptime: boolean }) {
  return (
    <section id="services" data-live="" aria-labelledby="services-title">
      <h2 id="services-title">{drawing.words.services}</h2>
      {services.length === 0 ? (
        <p class="quiet">{drawing.words.no_services}</p>
      ) : (
        <ul class="card rows">
          {services.map((service) => (
            <li>
              <Service drawing={drawing} service={service} />
              {withUptime && <UptimeBars drawing={drawing} name={service.name} uptime={uptime[service.id]} />}
            </li>
          ))}
        </ul>
      )}
      {withUptime && <UptimeDetails drawing={drawing} services={services} uptime={uptime} />}
    </section>
  );
}

function Service({ drawing: { words }, service: { name, description, status } }: { drawing: Drawing; service: PublicService }) {
  return (
    <div>
      <div class="service">
        <h3 class="name">
          <bdi>{name}</bdi>
        </h3>
        <span class={`status ${status}`}>{words[status]}</span>
      </div>
      {description && <Message text={description} class="quiet" />}
    </div>
  );
}

/** The uptime of each service by itself, for layouts that do not put it below the services. */
export function UptimeHistory({ drawing, page: { services }, uptime }: ServicesProps) {
  return (
    <section id="uptime" data-live="" aria-labelledby="uptime-title">
      <h2 id="uptime-title">{drawing.words.uptime}</h2>
      {services.length === 0 ? (
        <p class="quiet">{drawing.words.no_services}</p>
      ) : (
        <ul class="card rows">
          {services.map(({ id, name }) => (
            <li>
              <h3 class="name">
          <bdi>{name}</bdi>
        </h3>
              <UptimeBars drawing={drawing} name={name} uptime={uptime[id]} />
            </li>
          ))}
        </ul>
      )}
      <UptimeDetails drawing={drawing} services={services} uptime={uptime} />
    </section>
  );
}
