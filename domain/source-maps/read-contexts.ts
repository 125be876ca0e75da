import { sql } from "drizzle-orm";
import type { Queries } from "../../platform/postgres/database.ts";
import type { ContentPlace, Frame, StoredFrame } from "../../schemas/frames.ts";
import { sourceMapFiles } from "../../schemas/tables/all.ts";
import { makeContent, type Context } from "./source-content.ts";

/** Frames of more sources than this, or of more bytes of them as they are stored, are shown without the lines around them in one answer. */
const MOST_SOURCES = 200;
const MOST_BYTES = 4 * 1024 * 1024;

/**
 * Frames with the lines around their originals, from the maps that the organization still has; list by list. Only the sources that are
 * named are read out of the indexes.
 */
export async function withContexts(queries: Queries, organizationId: string, lists: readonly StoredFrame[][]): Promise<Frame[][]> {
  const wanted = new Map<string, { content: ContentPlace; lines: Set<number> }>();
  let bytes = 0;
  for (const { original } of lists.flat()) {
    if (!original?.content) continue;
    const known = wanted.get(nameOf(original.content));
    if (known) known.lines.add(original.line);
    else if (wanted.size < MOST_SOURCES && (bytes += original.content[2]) <= MOST_BYTES) wanted.set(nameOf(original.content), { content: original.content, lines: new Set([original.line]) });
  }
  const contexts = await readContexts(queries, organizationId, wanted);
  return lists.map((frames) => frames.map((frame) => withContext(frame, contexts)));
}

/** By source and line. */
type Contexts = ReadonlyMap<string, Context>;

function nameOf(content: ContentPlace): string {
  return content.join(" ");
}

function withContext({ original, ...frame }: StoredFrame, contexts: Contexts): Frame {
  if (original === null) return { ...frame, original };
  const { content, ...position } = original;
  return { ...frame, original: { ...position, context: (content && contexts.get(`${nameOf(content)} ${position.line}`)) ?? null } };
}

/** One source after the other, of which only the lines are kept. */
async function readContexts(queries: Queries, organizationId: string, wanted: ReadonlyMap<string, { content: ContentPlace; lines: Set<number> }>): Promise<Contexts> {
  const contexts = new Map<string, Context>();
  if (wanted.size === 0) return contexts;
  const given = JSON.stringify([...wanted.values()].map(({ content: [hash, start, bytes] }) => ({ hash, start, bytes })));
  const { rows } = await queries.execute<{ place: string; deflated: Buffer }>(sql`
    select concat_ws(' ', given.hash, given.start, given.bytes) as place, substring(file.index from given.start + 1 for given.bytes) as deflated
    from jsonb_to_recordset(${given}::jsonb) as given (hash text, start int, bytes int)
    join ${sourceMapFiles} as file on file.organization_id = ${organizationId} and file.hash = given.hash`);
  for (const { place, deflated } of rows) {
    const content = makeContent(deflated);
    for (const line of wanted.get(place)!.lines) {
      const context = content?.around(line);
      if (context) contexts.set(`${place} ${line}`, context);
    }
  }
  return contexts;
}
