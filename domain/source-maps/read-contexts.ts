import { sql } from "drizzle-orm";
import type { Queries } from "../../platform/postgres/database.ts";
import type { ContentPlace, Frame, StoredFrame } from "../../schemas/frames.ts";
import { sourceMapFiles } from "../../schemas/tables/all.ts";
import { makeContent, type SourceContent } from "./source-content.ts";

/** Frames of more sources than this, in one answer, are shown without the lines around them. */
const MOST_SOURCES = 200;

/**
 * Frames with the lines around their originals, from the maps that the organization still has; list by list. Only the sources that are
 * named are read out of the indexes.
 */
export async function withContexts(queries: Queries, organizationId: string, lists: readonly StoredFrame[][]): Promise<Frame[][]> {
  const places = new Map<string, ContentPlace>();
  for (const { original } of lists.flat()) {
    if (original?.content && places.size < MOST_SOURCES) places.set(original.content.join(" "), original.content);
  }
  const contents = await readContents(queries, organizationId, [...places.values()]);
  return lists.map((frames) => frames.map((frame) => withContext(frame, contents)));
}

function withContext({ original, ...frame }: StoredFrame, contents: ReadonlyMap<string, SourceContent>): Frame {
  if (original === null) return { ...frame, original };
  const { content, ...position } = original;
  const context = content === null ? null : (contents.get(content.join(" "))?.around(position.line) ?? null);
  return { ...frame, original: { ...position, context } };
}

async function readContents(queries: Queries, organizationId: string, places: readonly ContentPlace[]): Promise<Map<string, SourceContent>> {
  if (places.length === 0) return new Map();
  const given = JSON.stringify(places.map(([hash, start, bytes]) => ({ hash, start, bytes })));
  const { rows } = await queries.execute<{ place: string; deflated: Buffer }>(sql`
    select concat_ws(' ', given.hash, given.start, given.bytes) as place, substring(file.index from given.start + 1 for given.bytes) as deflated
    from jsonb_to_recordset(${given}::jsonb) as given (hash text, start int, bytes int)
    join ${sourceMapFiles} as file on file.organization_id = ${organizationId} and file.hash = given.hash`);
  const contents = new Map<string, SourceContent>();
  for (const { place, deflated } of rows) {
    const content = makeContent(deflated);
    if (content) contents.set(place, content);
  }
  return contents;
}
