import { setTimeout as rest } from "node:timers/promises";
import type { VNode } from "preact";
import type { PageSettings } from "../../../domain/status-pages/find-page.ts";
import { readPageMetrics } from "../../../domain/status-pages/read-page-metrics.ts";
import { readPageRecord, readPageUptime, readPublicIncident, readPublicPage } from "../../../domain/status-pages/read-public-page.ts";
import { cutWhole } from "../../../domain/cut-whole.ts";
import type { ClickHouse } from "../../../platform/clickhouse/port.ts";
import type { Log } from "../../../platform/log.ts";
import type { Queries } from "../../../platform/postgres/database.ts";
import type { Drawing } from "../documents/drawing.ts";
import { overallSentence } from "../sections/overall-status.tsx";
import { HomePage, type HomeModel } from "../documents/home-page.tsx";
import { HistoryPage, type HistoryModel } from "../documents/history-page.tsx";
import { IncidentPage, type IncidentModel } from "../documents/incident-page.tsx";
import { fillIn } from "../messages/all.ts";
import { isMonth, monthAfter, monthOf, monthsUntil, startOfMonth } from "./months.ts";

export interface ReadNeeds {
  /** Sees the rows of the page's organization alone. */
  queries: Queries;
  clickhouse: ClickHouse;
  log: Log;
  now: Date;
}

/** One thing that a page can be asked for: what is read for it, and what is made of that. */
export interface View<Model> {
  /** Below the page's address, such as `/history`. */
  path: string;
  /** What is read for it: views that read the same share it. */
  reads: string;
  /** Whether programs ask for it, not people. */
  forPrograms: boolean;
  /** Tells its models apart: of which month, which incident. Null for a request that can have no answer. */
  keyOf(request: { params: Record<string, string>; query: Record<string, unknown> }, now: Date): string | null;
  /** Null when there is no such thing on the page. */
  read(needs: ReadNeeds, settings: PageSettings, key: string): Promise<Model | null>;
  /** A document for people, or any text for programs. */
  draw(model: Model, drawing: Drawing): { kind: "page"; title: string; description: string; body: VNode } | { kind: "text"; type: string; text: string };
}

/** Characters of what is said of a page where a link to it is shown. */
const MOST_DESCRIBED = 200;

/** Services whose uptime a page shows; of more the page would weigh more than it tells. */
const MOST_BARS = 100;

export const home: View<HomeModel> = {
  path: "",
  reads: "home",
  forPrograms: false,
  keyOf: () => "",
  async read({ queries, clickhouse, log, now }, settings) {
    const page = await readPublicPage(queries, settings, now);
    const ids = page.services.slice(0, MOST_BARS).map(({ id }) => id);
    const [uptime, metrics] = await Promise.all([
      settings.page.showUptimeGraph ? readPageUptime(queries, ids, { timezone: settings.timezone, now }) : {},
      showsMetrics(settings) ? readMetrics({ clickhouse, log, now }, settings.page.organizationId, ids) : null,
    ]);
    return { page, uptime, metrics };
  },
  draw: (model, drawing) => ({ kind: "page", title: fillIn(drawing.words.title, { page: model.page.name }), description: overallSentence(drawing.words, model.page.overall), body: <HomePage drawing={drawing} model={model} /> }),
};

/** Any design of the page may be the one that is drawn. */
function showsMetrics({ published, draft, page }: PageSettings): boolean {
  const layouts = [published, draft].some((version) => version?.layout.sections.some(({ type, enabled }) => type === "metrics" && enabled));
  const templates = [published?.template, draft?.template, page.customTemplate].some((template) => template && /\{\{\s*metrics\s*\}\}/.test(template.html));
  return layouts || templates;
}

/** Well below what visitors wait for a whole page: an incident shall not be told late because measurements are. */
const METRICS_PATIENCE_MS = 300;

/** Visitors are shown everything else when the measurements cannot be had, or not soon. */
async function readMetrics({ clickhouse, log, now }: Pick<ReadNeeds, "clickhouse" | "log" | "now">, organizationId: string, ids: readonly string[]): Promise<HomeModel["metrics"]> {
  try {
    const late = rest(METRICS_PATIENCE_MS, undefined, { ref: false }).then(() => {
      throw new Error("no measurements in time");
    });
    return await Promise.race([readPageMetrics(clickhouse, organizationId, ids, now), late]);
  } catch (error) {
    log.warn({ err: error }, "a page is shown without its metrics");
    return null;
  }
}

export const incident: View<IncidentModel> = {
  path: "/incidents/:id",
  reads: "incident",
  forPrograms: false,
  keyOf: ({ params }) => (/^[0-9a-f-]{36}$/i.test(params.id!) ? params.id!.toLowerCase() : null),
  async read({ queries }, settings, id) {
    const found = await readPublicIncident(queries, settings, id);
    return found && { page: headOf(settings), incident: found };
  },
  draw: (model, drawing) => ({ kind: "page", title: `${model.incident.title} – ${fillIn(drawing.words.title, { page: model.page.name })}`, description: cutWhole(model.incident.updates[0]?.message ?? model.incident.title, MOST_DESCRIBED), body: <IncidentPage drawing={drawing} model={model} /> }),
};

/** Months on one page of the history. */
const MONTHS = 3;

/** Incidents that are shown of one month, and windows as many. */
const MOST_OF_MONTH = 200;

export const history: View<HistoryModel> = {
  path: "/history",
  reads: "history",
  forPrograms: false,
  // Later ones are the current one, whatever the time zone.
  keyOf: ({ query }, now) => (query.month === undefined || (typeof query.month === "string" && isMonth(query.month) && query.month > monthAfter(now.toISOString().slice(0, 7), 1)) ? "" : typeof query.month === "string" && isMonth(query.month) ? query.month : null),
  async read({ queries, now }, settings, asked) {
    const current = monthOf(now, settings.timezone);
    const last = asked === "" || asked > current ? current : asked;
    const months = monthsUntil(last, MONTHS);
    const start = (month: string) => startOfMonth(month, settings.timezone);
    // What has not begun is no history.
    const end = (month: string) => [start(monthAfter(month, 1)), now.toISOString()].sort()[0]!;
    const records = await Promise.all(months.map((month) => readPageRecord(queries, settings, { from: start(month), until: end(month), limit: MOST_OF_MONTH })));
    const { incidents, maintenance } = await readPageRecord(queries, settings, { until: start(months.at(-1)!), limit: 1 });
    const newer = monthAfter(last, MONTHS);
    return {
      page: headOf(settings),
      months: months.map((month, at) => ({ month, record: records[at]! })),
      older: incidents.length + maintenance.length > 0 ? monthAfter(last, -MONTHS) : null,
      newer: last === current ? null : newer < current ? newer : current,
    };
  },
  draw: (model, drawing) => ({ kind: "page", title: `${drawing.words.history} – ${fillIn(drawing.words.title, { page: model.page.name })}`, description: drawing.words.past, body: <HistoryPage drawing={drawing} model={model} /> }),
};

function headOf({ page: { name, tagline } }: PageSettings): { name: string; tagline: string | null } {
  return { name, tagline };
}
