import type { IncidentSeverity, IncidentStatus } from "../../schemas/vocabulary.ts";
import type { Stage } from "./stage.ts";

/** When every picture is taken; a fixed moment, so that pictures change only when pages do. */
export const PRESENT = Date.UTC(2026, 4, 6, 12, 24);

const MINUTE = 60_000;
const HOUR = 3_600_000;
const DAY = 86_400_000;

/** Before the first of the days that pages show. */
export const BEGINNING = PRESENT - 100 * DAY;

export const SERVICES = [
  { name: "API", description: "api.nordwind.example, versions 2 and 3" },
  { name: "Checkout", description: "Carts, payments and receipts" },
  { name: "Search", description: "Products, suggestions and filters" },
  { name: "Mail", description: "Receipts, invitations and newsletters" },
  { name: "Partner integrations and data exports", description: "" },
] as const;

interface Said {
  /** Minutes after the incident's start. */
  after: number;
  status: IncidentStatus;
  message: string;
}

interface Happened {
  /** Milliseconds before the present. */
  ago: number;
  title: string;
  severity: IncidentSeverity;
  services: string[];
  message: string;
  later: Said[];
}

const INCIDENTS: Happened[] = [
  {
    ago: 88 * DAY + 5 * HOUR,
    title: "Search results were up to an hour old",
    severity: "minor",
    services: ["Search"],
    message: "New products do not show up in search. We are looking into it.",
    later: [
      { after: 35, status: "identified", message: "One index writer stopped after last night’s update. We are rebuilding its index." },
      { after: 190, status: "resolved", message: "The index is complete again." },
    ],
  },
  {
    ago: 71 * DAY + 9 * HOUR,
    title: "API answered with errors",
    severity: "critical",
    services: ["API", "Partner integrations and data exports"],
    message: "Most requests to the API fail. We are on it.",
    later: [
      { after: 12, status: "identified", message: "A faulty network route in one data centre; we are moving traffic to the other." },
      { after: 31, status: "monitoring", message: "All traffic has moved. Error rates are back to normal." },
      { after: 96, status: "resolved", message: "The route is repaired and traffic is where it belongs." },
    ],
  },
  {
    ago: 52 * DAY + 2 * HOUR,
    title: "Receipts arrived late",
    severity: "minor",
    services: ["Mail"],
    message: "Receipts take up to 40 minutes to arrive. Payments are not affected.",
    later: [{ after: 150, status: "resolved", message: "The queue is empty; all receipts were sent." }],
  },
  {
    ago: 33 * DAY + 7 * HOUR,
    title: "Slow pages for visitors in Asia",
    severity: "minor",
    services: ["Website"],
    message: "Pages take several seconds to load from parts of Asia.",
    later: [
      { after: 55, status: "monitoring", message: "Our content network moved the affected regions to other locations." },
      { after: 170, status: "resolved", message: "Load times have been normal for two hours." },
    ],
  },
  {
    ago: 9 * DAY + 4 * HOUR,
    title: "Exports to partners were delayed",
    severity: "minor",
    services: ["Partner integrations and data exports"],
    message: "Exports that were due this morning have not been sent yet.",
    later: [
      { after: 40, status: "identified", message: "A disk ran full on one of the workers. It is being replaced." },
      { after: 205, status: "resolved", message: "All exports of the morning were sent, none is missing." },
    ],
  },
  {
    ago: 4 * DAY + 3 * HOUR,
    title: "Some card payments were declined",
    severity: "major",
    services: ["Checkout"],
    message: "Payments with some cards are declined although they are valid.",
    later: [
      { after: 14, status: "identified", message: "Our payment provider has trouble with one card network and has confirmed it." },
      { after: 68, status: "resolved", message: "The provider has resolved it. Declined payments can be tried again." },
    ],
  },
  {
    ago: 96 * MINUTE,
    title: "Payments take long or fail",
    severity: "major",
    services: ["Checkout", "API"],
    message: "Payments take up to a minute, and some fail. Nobody is charged twice. We are looking into it.",
    later: [
      { after: 17, status: "identified", message: "A database behind the checkout runs out of connections. We are adding capacity." },
      { after: 58, status: "monitoring", message: "The new capacity is in place since 13:45. Payments go through again; some still take ten seconds or more." },
    ],
  },
];

interface Planned {
  /** Milliseconds from the present. */
  starts: number;
  lasts: number;
  title: string;
  description: string;
  services: string[];
  /** Whether it has been started, and completed. */
  upTo?: "in_progress" | "completed";
}

const MAINTENANCE: Planned[] = [
  { starts: -61 * DAY, lasts: 2 * HOUR, title: "New certificates for all domains", description: "No interruption is expected.", services: ["Website", "API"], upTo: "completed" },
  { starts: -20 * DAY, lasts: HOUR, title: "Mail servers move", description: "Mails may arrive some minutes late.", services: ["Mail"], upTo: "completed" },
  { starts: -44 * MINUTE, lasts: 2 * HOUR, title: "Search index is rebuilt", description: "Search works meanwhile, but suggestions are switched off.", services: ["Search"], upTo: "in_progress" },
  { starts: 3 * DAY + 8 * HOUR + 36 * MINUTE, lasts: 90 * MINUTE, title: "Database upgrade", description: "The checkout is read-only for about ten minutes within this time.", services: ["Checkout", "API"] },
];

/** An hour of trouble that nobody wrote an incident about. */
const TROUBLE = [
  { ago: 80 * DAY, service: "Mail", status: "degraded" },
  { ago: 63 * DAY, service: "Search", status: "degraded" },
  { ago: 46 * DAY, service: "API", status: "degraded" },
  { ago: 27 * DAY, service: "Checkout", status: "partial_outage" },
  { ago: 16 * DAY, service: "Website", status: "degraded" },
  { ago: 12 * DAY, service: "Search", status: "partial_outage" },
] as const;

interface Step {
  at: number;
  take(): Promise<void>;
}

/** Lives through the organization's last hundred days by its API; resolves with the ids of its services by name. */
export async function tellStory(stage: Stage): Promise<Map<string, string>> {
  const ids = new Map([["Website", stage.organization.serviceId]]);
  await stage.call("PATCH", "/config", { timezone: "Europe/Berlin" });
  for (const [at, service] of SERVICES.entries()) {
    const { id } = await stage.call<{ id: string }>("POST", "/services", { ...service, display_order: at + 1 });
    ids.set(service.name, id);
  }
  const steps = [...INCIDENTS.flatMap((each) => incidentSteps(stage, each)), ...MAINTENANCE.flatMap((each) => maintenanceSteps(stage, each)), ...troubleSteps(stage, ids)];
  for (const { at, take } of steps.toSorted((one, other) => one.at - other.at)) {
    stage.setTime(at);
    await take();
  }
  stage.setTime(PRESENT);
  return ids;
}

function incidentSteps(stage: Stage, { ago, later, ...incident }: Happened): Step[] {
  const start = PRESENT - ago;
  let id = "";
  const open = async () => void ({ id } = await stage.call<{ id: string }>("POST", "/incidents", incident));
  return [{ at: start, take: open }, ...later.map(({ after, ...said }) => ({ at: start + after * MINUTE, take: async () => void (await stage.call("POST", `/incidents/${id}/updates`, said)) }))];
}

function maintenanceSteps(stage: Stage, { starts, lasts, upTo, ...window }: Planned): Step[] {
  const start = PRESENT + starts;
  const announced = Math.min(start, PRESENT) - DAY;
  let id = "";
  const plan = async () => void ({ id } = await stage.call<{ id: string }>("POST", "/maintenance-windows", { ...window, starts_at: new Date(start).toISOString(), ends_at: new Date(start + lasts).toISOString() }));
  const becomes = (at: number, status: string): Step => ({ at, take: async () => void (await stage.call("PATCH", `/maintenance-windows/${id}`, { status })) });
  return [{ at: announced, take: plan }, ...(upTo ? [becomes(start, "in_progress")] : []), ...(upTo === "completed" ? [becomes(start + lasts, "completed")] : [])];
}

function troubleSteps(stage: Stage, ids: ReadonlyMap<string, string>): Step[] {
  return TROUBLE.flatMap(({ ago, service, status }) => {
    const becomes = (at: number, next: string): Step => ({ at, take: async () => void (await stage.call("PATCH", `/services/${ids.get(service)}`, { status: next })) });
    return [becomes(PRESENT - ago, status), becomes(PRESENT - ago + HOUR, "operational")];
  });
}
