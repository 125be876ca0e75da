import { errorsAsCsv } from "../../../domain/errors/csv.ts";
import { exportAsJson, exportErrors } from "../../../domain/errors/export.ts";
import { ErrorExport, ErrorExportQuery } from "../../../schemas/api/errors.ts";
import { asStream, route } from "../../route.ts";

export const exportAll = route({
  method: "GET",
  path: "/errors/export",
  scope: "monitors:read",
  tag: "Errors",
  summary: "Export error signatures",
  description:
    "As a CSV file, or as JSON. Last seen first; counts are totals. What a spreadsheet would run in the file has an apostrophe before it. The answer is sent as it is read: one that fails on the way is cut off, and its connection reset.",
  query: ErrorExportQuery,
  response: ErrorExport,
  otherType: "text/csv",
  failures: ["UNAVAILABLE"],
  async handle({ query, actor, needs }) {
    const now = needs.clock.now();
    const exported = await exportErrors(needs, actor.organizationId, query, now);
    if (query.format === "json") return asStream("application/json; charset=utf-8", exportAsJson(exported));
    const name = `errors-${new Date(now).toISOString().slice(0, 10)}.csv`;
    return asStream("text/csv; charset=utf-8", errorsAsCsv(exported.pages), { "Content-Disposition": `attachment; filename="${name}"` });
  },
});
