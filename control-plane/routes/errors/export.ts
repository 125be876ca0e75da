import { errorsAsCsv } from "../../../domain/errors/csv.ts";
import { exportErrors } from "../../../domain/errors/export.ts";
import { ErrorExport, ErrorExportQuery } from "../../../schemas/api/errors.ts";
import { asText, route } from "../../route.ts";

export const exportAll = route({
  method: "GET",
  path: "/errors/export",
  scope: "monitors:read",
  tag: "Errors",
  summary: "Export error signatures",
  description: "As a CSV file, or as JSON. Last seen first; counts are totals. A cell of the file that a spreadsheet would run begins with an apostrophe.",
  query: ErrorExportQuery,
  response: ErrorExport,
  otherType: "text/csv",
  failures: ["UNAVAILABLE"],
  async handle({ query, actor, needs }) {
    const now = needs.clock.now();
    const exported = await exportErrors(needs, actor.organizationId, query, now);
    if (query.format === "json") return exported;
    const name = `errors-${new Date(now).toISOString().slice(0, 10)}.csv`;
    return asText("text/csv; charset=utf-8", errorsAsCsv(exported.errors), { "Content-Disposition": `attachment; filename="${name}"` });
  },
});
