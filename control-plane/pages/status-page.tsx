import type { PublicPage } from "../../domain/status-pages/read-public-page.ts";
import type { IncidentStatus, ServiceStatus } from "../../schemas/vocabulary.ts";
import { Layout } from "./layout.tsx";
import { SubscribeForm } from "./subscribe-form.tsx";

/** The sentence above everything, by the worst status of the page's services. */
const OVERALL: Record<ServiceStatus, string> = {
  operational: "All services are working",
  maintenance: "Maintenance is in progress",
  degraded: "Some services are not working well",
  partial_outage: "Some services are partly down",
  major_outage: "Some services are down",
};

const SERVICE_STATUS: Record<ServiceStatus, string> = {
  operational: "Operational",
  maintenance: "Maintenance",
  degraded: "Degraded",
  partial_outage: "Partial outage",
  major_outage: "Major outage",
};

const INCIDENT_STATUS: Record<IncidentStatus, string> = {
  investigating: "Investigating",
  identified: "Identified",
  monitoring: "Monitoring",
  resolved: "Resolved",
};

const SEVERITY = { minor: "Minor", major: "Major", critical: "Critical" } as const;

interface StatusPageProps {
  page: PublicPage;
  styles: string;
  /** Where its form sends subscriptions; null shows none. */
  subscribeAt: string | null;
}

/** A public status page. Everything on it is text that somebody wrote; preact escapes it. */
export function StatusPage({ page, styles, subscribeAt }: StatusPageProps) {
  const { name, tagline, overall, services, openIncidents } = page;
  return (
    <Layout title={`${name} status`} styles={styles}>
      <h1>{name}</h1>
      {tagline && <p class="quiet">{tagline}</p>}
      {overall === null ? <p class="overall">No services are shown here yet</p> : <p class={`overall ${overall}`}>{OVERALL[overall]}</p>}

      <h2>Open incidents</h2>
      {openIncidents.length === 0 && <p class="quiet">No incident is open.</p>}
      {openIncidents.map((incident) => (
        <Incident incident={incident} />
      ))}

      {services.length > 0 && <h2>Services</h2>}
      {services.length > 0 && (
        <ul class="card">
          {services.map(({ name, description, status }) => (
            <li class="service">
              <div>
                <span class="name">{name}</span>
                {description && <p class="quiet">{description}</p>}
              </div>
              <span class={`status ${status}`}>{SERVICE_STATUS[status]}</span>
            </li>
          ))}
        </ul>
      )}

      {subscribeAt !== null && <SubscribeForm action={subscribeAt} language={page.language} services={services} />}
    </Layout>
  );
}

function Incident({ incident }: { incident: PublicPage["openIncidents"][number] }) {
  const { title, status, severity, startedAt, services, updates } = incident;
  return (
    <div class="card">
      <article>
        <h3>{title}</h3>
        <p class="quiet">
          <span class={`status ${severity}`}>{SEVERITY[severity]}</span> · {INCIDENT_STATUS[status]} · since <Moment at={startedAt} />
        </p>
        {services.length > 0 && <p class="quiet">Affects {services.join(", ")}</p>}
        {updates.length > 0 && (
          <ol class="updates">
            {updates.map(({ status, message, createdAt }) => (
              <li>
                <p class="message">{message}</p>
                <p class="quiet">
                  {INCIDENT_STATUS[status]} · <Moment at={createdAt} />
                </p>
              </li>
            ))}
          </ol>
        )}
      </article>
    </div>
  );
}

const MOMENT_FORMAT = new Intl.DateTimeFormat("en-GB", { dateStyle: "medium", timeStyle: "short", timeZone: "UTC" });

function Moment({ at }: { at: Date }) {
  return <time dateTime={at.toISOString()}>{MOMENT_FORMAT.format(at)} UTC</time>;
}
