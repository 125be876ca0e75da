import { PageSummary } from "../schemas/api/public-pages.ts";
import { PAGE_LANGUAGES } from "../schemas/vocabulary.ts";
import { jsonSchema, type Operation } from "./describe-ingest.ts";

const TAG = "Public pages";

const PARAMETERS = [
  { name: "slug", in: "path", required: true, description: "The page's slug.", schema: { type: "string" }, example: "acme" },
  { name: "access", in: "query", required: false, description: "For a private page, what its access link carries.", schema: { type: "string" } },
  { name: "lang", in: "query", required: false, description: "The language, on a page with `match_visitor_language`; there `Accept-Language` counts too.", schema: { type: "string", enum: PAGE_LANGUAGES } },
];

const REFUSALS = {
  "304": { description: "Nothing changed since the answer whose `ETag` or `Last-Modified` the request carries." },
  "401": { description: "The page needs a password." },
  "404": { description: "There is no such page, or this visitor may not see it." },
  "503": { description: "The page cannot be read for the moment, and was not read before." },
};

const FOLLOWS = "Follows the page's visibility. On a custom domain it stands at the root.";

interface Described {
  path: string;
  name: string;
  summary: string;
  description: string;
  type: string;
  parameters?: object[];
  schema?: object;
}

const VIEWS: readonly Described[] = [
  { path: "", name: "Page", summary: "A status page", description: `As HTML for people. ${FOLLOWS}`, type: "text/html" },
  { path: "/history", name: "History", summary: "A page's history", description: "Three months as HTML, latest first.", type: "text/html", parameters: [{ name: "month", in: "query", required: false, description: "The latest month to show, `YYYY-MM`; the current one unless given.", schema: { type: "string" }, example: "2026-01" }] },
  { path: "/incidents/{id}", name: "Incident", summary: "An incident", description: "One that the page shows, with all its updates, as HTML.", type: "text/html", parameters: [{ name: "id", in: "path", required: true, description: "The incident's id.", schema: { type: "string" } }] },
  { path: "/feed.rss", name: "Rss", summary: "A page's feed as RSS 2.0", description: `The last 50 incidents and maintenance windows. ${FOLLOWS}`, type: "application/rss+xml" },
  { path: "/feed.atom", name: "Atom", summary: "A page's feed as Atom 1.0", description: `The last 50 incidents and maintenance windows. ${FOLLOWS}`, type: "application/atom+xml" },
  { path: "/feed.json", name: "JsonFeed", summary: "A page's feed as JSON Feed 1.1", description: `The last 50 incidents and maintenance windows. ${FOLLOWS}`, type: "application/feed+json" },
  { path: "/maintenance.ics", name: "Calendar", summary: "A page's maintenance as a calendar", description: `iCalendar, with what recurs for a year. ${FOLLOWS}`, type: "text/calendar" },
  { path: "/badge.svg", name: "Badge", summary: "A badge of a page's status", description: `SVG. ${FOLLOWS}`, type: "image/svg+xml" },
  { path: "/summary.json", name: "Summary", summary: "A page's status for programs", description: `The fields of Statuspage's \`/api/v2/summary.json\`. ${FOLLOWS}`, type: "application/json", schema: jsonSchema(PageSummary) },
];

/** What visitors of a page read without a key, described by hand. */
export function describePages(): Record<string, Record<string, Operation>> {
  return Object.fromEntries(
    VIEWS.map(({ path, name, summary, description, type, parameters = [], schema = { type: "string" } }) => [
      `/pages/{slug}${path}`,
      {
        get: {
          operationId: `getPagesBySlug${name}`,
          tags: [TAG],
          summary,
          description,
          security: [],
          parameters: [...PARAMETERS, ...parameters],
          responses: { "200": { description: "As it is now, or as it last was while it cannot be read.", content: { [type]: { schema } } }, ...REFUSALS },
        },
      },
    ]),
  );
}
