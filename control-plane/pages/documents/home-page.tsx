import type { ComponentChildren } from "preact";
import { renderToString } from "preact-render-to-string";
import type { PageMetrics } from "../../../domain/status-pages/read-page-metrics.ts";
import type { PageUptime, PublicPage } from "../../../domain/status-pages/public-page.ts";
import type { SectionType } from "../../../schemas/vocabulary.ts";
import type { Drawing } from "./drawing.ts";
import { OWN, PageBody } from "./page-body.tsx";
import { Announcement } from "../sections/announcement.tsx";
import { Footer } from "../sections/footer.tsx";
import { Header } from "../sections/header.tsx";
import { IncidentHistory } from "../sections/incident-history.tsx";
import { ActiveIncidents } from "../sections/incidents.tsx";
import { ScheduledMaintenance } from "../sections/maintenance.tsx";
import { Metrics } from "../sections/metrics.tsx";
import { OverallStatus } from "../sections/overall-status.tsx";
import { ServicesList, UptimeHistory } from "../sections/services.tsx";
import { SubscribeForm } from "../subscribing/subscribe-form.tsx";
import { fillTemplate } from "./template.ts";

/** All that the page itself is made of. */
export interface HomeModel {
  page: PublicPage;
  uptime: PageUptime;
  /** Null when they could not be read. */
  metrics: PageMetrics | null;
}

/** The page itself: its sections in their order, or its own template. */
export function HomePage({ drawing, model }: { drawing: Drawing; model: HomeModel }) {
  const { look } = drawing;
  const { template, sections } = look;
  if (template !== null) return <CustomBody drawing={drawing} model={model} html={template.html} />;
  const [first, last] = [sections[0] === "header", sections.at(-1) === "footer"];
  const middle = sections.slice(first ? 1 : 0, last ? -1 : undefined);
  return (
    <PageBody
      drawing={drawing}
      header={first && <Header drawing={drawing} page={model.page} heading />}
      footer={last && <Footer drawing={drawing} />}
    >
      {!sections.includes("header") && <h1 class="unseen">{model.page.name}</h1>}
      {middle.map((type, at) => (
        <Section type={type} drawing={drawing} model={model} withUptime={middle[at + 1] === "uptime_history"} merged={middle[at - 1] === "services_list"} />
      ))}
    </PageBody>
  );
}

interface SectionProps {
  type: SectionType;
  drawing: Drawing;
  model: HomeModel;
  /** Whether the uptime follows at once, and so is shown with the services. */
  withUptime: boolean;
  /** Whether the services, which show the uptime, stand right before. */
  merged: boolean;
}

type Draw = (props: Omit<SectionProps, "type">) => ComponentChildren;

/** How each section is drawn; the compiler names every type that lacks its own. */
const SECTIONS: Record<SectionType, Draw> = {
  header: ({ drawing, model }) => <Header drawing={drawing} page={model.page} heading />,
  announcement: ({ drawing }) => <Announcement drawing={drawing} />,
  overall_status: ({ drawing, model }) => <OverallStatus drawing={drawing} page={model.page} />,
  active_incidents: ({ drawing, model }) => <ActiveIncidents drawing={drawing} page={model.page} />,
  scheduled_maintenance: ({ drawing, model }) => <ScheduledMaintenance drawing={drawing} page={model.page} />,
  services_list: ({ drawing, model, withUptime }) => <ServicesList drawing={drawing} page={model.page} uptime={model.uptime} withUptime={withUptime} />,
  uptime_history: ({ drawing, model, merged }) => !merged && <UptimeHistory drawing={drawing} page={model.page} uptime={model.uptime} />,
  metrics: ({ drawing, model }) => <Metrics drawing={drawing} page={model.page} metrics={model.metrics} />,
  incident_history: ({ drawing, model }) => <IncidentHistory drawing={drawing} page={model.page} />,
  subscribe: ({ drawing, model }) => drawing.subscribeAt !== null && <SubscribeForm action={drawing.subscribeAt} language={drawing.language} services={model.page.services} />,
  footer: ({ drawing }) => <Footer drawing={drawing} />,
};

function Section({ type, ...props }: SectionProps) {
  return <>{SECTIONS[type](props)}</>;
}

function CustomBody({ drawing, model, html }: { drawing: Drawing; model: HomeModel; html: string }) {
  const drawn = new Set<SectionType>();
  const filled = fillTemplate(html, (type) => {
    // A section twice would be the same element ids twice.
    if (drawn.has(type) || !isOn(drawing, type)) return "";
    drawn.add(type);
    return renderToString(<Section type={type} drawing={drawing} model={model} withUptime={false} merged={false} />);
  });
  return (
    <PageBody drawing={drawing} header={null} footer={null} ownMain={/<main[\s>]/.test(filled)}>
      {!/<h1[\s>]/.test(filled) && <h1 class="unseen">{model.page.name}</h1>}
      <OWN class="custom" dangerouslySetInnerHTML={{ __html: filled }} />
    </PageBody>
  );
}

/** Switches of the page turn sections off in a template too. */
function isOn({ look }: Drawing, type: SectionType): boolean {
  return !look.off.has(type);
}
