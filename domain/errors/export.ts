import { sql } from "drizzle-orm";
import type { ClickHouse } from "../../platform/clickhouse/port.ts";
import { Failure } from "../../platform/failures.ts";
import type { Database } from "../../platform/postgres/database.ts";
import { uuids } from "../../platform/postgres/uuids.ts";
import type { ErrorExport, ErrorExportQuery, ExportedError } from "../../schemas/api/errors.ts";
import { errorSignatures } from "../../schemas/tables/all.ts";
import { mergedInto } from "./aliases.ts";
import { chooseSignatures, LATEST_FIRST } from "./choose.ts";
import { sessionsOf, type SignatureRow } from "./show.ts";

interface Stores {
  database: Database;
  clickhouse: ClickHouse;
}

/** Signatures whose messages, of 8 KiB at most, are held at a time. */
const PAGE = 1_000;
/** So that an export soon begins. */
const FIRST_PAGE = 50;

/** What is known of a signature from the beginning: a few hundred bytes. */
type Line = Pick<SignatureRow, "id" | "serviceId" | "occurrences" | "firstSeen" | "lastSeen">;

/**
 * The signatures that match, last seen first, at most `limit` (specification §4.13). Which they are, their counts and the totals are of one
 * moment; their messages and sessions are read page by page as they are asked for. The first page is read when this resolves, so that a store
 * that is away is found out before anything is sent; when one goes away later, or a signature is deleted meanwhile, the pages end with an error.
 */
export async function exportErrors(stores: Stores, organizationId: string, query: ErrorExportQuery, now: number): Promise<{ about: ErrorExport["export"]; pages: AsyncIterable<ExportedError[]> }> {
  const lines = await readLines(stores.database, await chooseSignatures(stores, organizationId, query, now), query.limit);
  const first = await describePage(stores, lines.slice(0, FIRST_PAGE));
  const firstSeen = lines.reduce<Date | undefined>((earliest, line) => (earliest && earliest <= line.firstSeen ? earliest : line.firstSeen), undefined);
  return {
    about: {
      format: "json",
      from: (query.start_date ?? firstSeen)?.toISOString() ?? null,
      to: (query.end_date ?? lines[0]?.lastSeen)?.toISOString() ?? null,
      total_errors: lines.length,
      total_occurrences: lines.reduce((sum, { occurrences }) => sum + occurrences, 0),
    },
    pages: pagesAfter(stores, first, lines),
  };
}

async function* pagesAfter(stores: Stores, first: ExportedError[], lines: Line[]): AsyncIterable<ExportedError[]> {
  yield first;
  for (let from = FIRST_PAGE; from < lines.length; from += PAGE) yield await describePage(stores, lines.slice(from, from + PAGE));
}

async function readLines(database: Database, chosen: Awaited<ReturnType<typeof chooseSignatures>>, limit: number): Promise<Line[]> {
  if (chosen === null) return [];
  const { id, serviceId, occurrences, firstSeen, lastSeen } = errorSignatures;
  return database
    .with(...(chosen.seen ? [chosen.seen] : []))
    .select({ id, serviceId, occurrences, firstSeen, lastSeen })
    .from(errorSignatures)
    .where(chosen.where)
    .orderBy(...LATEST_FIRST)
    .limit(limit);
}

async function describePage(stores: Stores, lines: Line[]): Promise<ExportedError[]> {
  const [texts, sessions] = await Promise.all([textsOf(stores.database, lines.map(({ id }) => id)), sessionsOf(stores, lines)]);
  return lines.map((line) => ({
    id: line.id,
    ...texts.get(line.id)!,
    occurrences: line.occurrences,
    sessions_affected: sessions.get(line.id) ?? 0,
    first_seen: line.firstSeen.toISOString(),
    last_seen: line.lastSeen.toISOString(),
  }));
}

type Texts = Pick<SignatureRow, "message" | "type">;

/** One that became part of another meanwhile has that one's; UNAVAILABLE when one is gone. */
async function textsOf(database: Database, ids: string[]): Promise<Map<string, Texts>> {
  const texts = await readTexts(database, ids);
  const missing = ids.filter((id) => !texts.has(id));
  if (missing.length === 0) return texts;
  const into = await mergedInto(database, missing);
  const others = await readTexts(database, [...new Set(into.values())]);
  for (const id of missing) {
    const other = others.get(into.get(id) ?? "");
    if (!other) throw new Failure("UNAVAILABLE", "Errors were deleted while they were being exported.", { fix: "Ask for the export again.", retryAfter: 1 });
    texts.set(id, other);
  }
  return texts;
}

async function readTexts(database: Database, ids: string[]): Promise<Map<string, Texts>> {
  const { id, message, type } = errorSignatures;
  const rows = ids.length === 0 ? [] : await database.select({ id, message, type }).from(errorSignatures).where(sql`${id} = any(${uuids(ids)})`);
  return new Map(rows.map((row) => [row.id, { message: row.message, type: row.type }]));
}

/** As the specification shows it (§4.13), in pieces. */
export async function* exportAsJson({ about, pages }: Awaited<ReturnType<typeof exportErrors>>): AsyncIterable<string> {
  let before = `{"export":${JSON.stringify(about)},"errors":[`;
  for await (const page of pages) {
    if (page.length === 0) continue;
    yield before + page.map((error) => JSON.stringify(error)).join(",");
    before = ",";
  }
  // Without any error the beginning is still to be sent.
  yield before === "," ? "]}" : `${before}]}`;
}
