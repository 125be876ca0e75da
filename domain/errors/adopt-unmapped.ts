import { sql } from "drizzle-orm";
import { newId } from "../../platform/ids.ts";
import type { Transaction } from "../../platform/postgres/database.ts";
import { uuids } from "../../platform/postgres/uuids.ts";
import type { StoredFrame } from "../../schemas/frames.ts";
import { errorSignatures, lateSourceMaps, sourceMaps } from "../../schemas/tables/all.ts";
import { withContexts } from "../source-maps/read-contexts.ts";
import { groupAgain } from "./group-again.ts";
import { moveSignature } from "./move-signature.ts";
import type { Description } from "./record.ts";

/**
 * Signatures that seem new, but are old ones of the same release seen through a source map for the first time: those become the new ones, with
 * their counts and status, so that nobody is told of an error a second time. Gives [the old id, the id that exists now].
 */
export async function adoptUnmapped(tx: Transaction, described: readonly Description[]): Promise<Map<string, string>> {
  const mapped = described.filter(({ frames }) => frames.some(({ original }) => original !== null));
  const adopted = new Map<string, string>();
  if (mapped.length === 0) return adopted;
  const unmappedIds = mapped.map((each) => unmappedId(each));
  const rows = await tx.select({ id: errorSignatures.id, release: errorSignatures.release }).from(errorSignatures).where(sql`${errorSignatures.id} = any(${uuids(unmappedIds)})`);
  const releases = new Map(rows.map(({ id, release }) => [id, release]));
  for (const [index, each] of mapped.entries()) {
    const from = unmappedIds[index]!;
    // Of another release it may be another error, whose names were made as short.
    if (from === each.id || releases.get(from) !== each.release) continue;
    const [frames] = await withContexts(tx, each.organization_id, [each.frames as StoredFrame[]]);
    const group = { id: each.id, version: each.grouping_version, fingerprint: each.fingerprint, culprit: each.culprit ?? "", parts: each.grouping_parts, frames: frames!, stackTrace: each.stack_trace };
    if (await moveSignature(tx, from, group)) adopted.set(from, each.id);
  }
  return adopted;
}

/** The id that an error has by the rules of today when none of its scripts has a map. */
export function unmappedId(each: Description): string {
  return groupAgain({ service_id: each.service_id, error_type: each.type, message: each.message, stack: each.stack_trace, causes: each.causes, grouping_parts: JSON.stringify(each.grouping_parts), release: each.release }, null).id;
}

/** So long after an upload an event may still arrive that was read without the map, in minutes. */
const STRAGGLING_MINUTES = 60;
const LOOK_AGAIN_SECONDS = 10;

/** New signatures without originals although a map has come by now: they were on their way. They are looked at once more. */
export async function noteLate(tx: Transaction, created: readonly Description[]): Promise<void> {
  const unmapped = created.filter(({ frames }) => frames.some((frame) => frame.in_app && frame.unmapped_reason === "no_map_for_url"));
  if (unmapped.length === 0) return;
  const releases = new Map(unmapped.map((each) => [`${each.service_id} ${each.release}`, { id: newId(), organization_id: each.organization_id, service_id: each.service_id, release: each.release }]));
  await tx.execute(sql`
    insert into ${lateSourceMaps} (id, organization_id, service_id, release, due_at)
    select given.id, given.organization_id, given.service_id, given.release, now() + make_interval(secs => ${LOOK_AGAIN_SECONDS})
    from jsonb_to_recordset(${JSON.stringify([...releases.values()])}::jsonb) as given (id uuid, organization_id uuid, service_id uuid, release text)
    where exists (select from ${sourceMaps} as map where map.service_id = given.service_id and map.release = given.release and map.uploaded_at > now() - make_interval(mins => ${STRAGGLING_MINUTES}))
    on conflict (service_id, release) do update set again = true`);
}
