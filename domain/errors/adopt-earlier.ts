import { sql } from "drizzle-orm";
import type { Transaction } from "../../platform/postgres/database.ts";
import { errorAliases, errorSignatures } from "../../schemas/tables/all.ts";
import { unmappedId } from "./adopt-unmapped.ts";
import { earlierFingerprint, EARLIER_VERSION } from "./earlier-fingerprint.ts";
import type { GroupableCause } from "./fingerprint.ts";
import { customOf } from "./group-again.ts";
import { framesWithMaps } from "./map-again.ts";
import type { Description } from "./record.ts";
import { signatureId } from "./signature-id.ts";
import { sourcedFrames } from "./sourced-frames.ts";

/** A signature of the earlier rules that was silent for so long is left behind. */
const SILENT_DAYS = 90;
/**
 * Of what the earlier rules took for one, so many become part of it: whoever has an old signature
 * could else make others without end, which no bound counts.
 */
const MOST_ALIASES = 100;

/**
 * Signatures that seem new, but were grouped by the rules of v1 before: they become part of what
 * they were, so that nobody is told of an error a second time and its history and status stay. So
 * do those of v1 that seem new, from rows that a processor of before left uncounted, with what is
 * counted by v2 already. Gives [the new id, the id of the signature that it is part of].
 */
export async function adoptEarlier(tx: Transaction, described: readonly Description[]): Promise<Map<string, string>> {
  if (described.length === 0) return new Map();
  const asked: { id: string; other: string; first_seen: string }[] = [];
  for (const each of described) asked.push({ id: each.id, other: await otherId(tx, each), first_seen: each.first_seen });
  const { rows } = await tx.execute<{ id: string; signature_id: string }>(sql`
    with given as (
      select * from jsonb_to_recordset(${JSON.stringify(asked)}::jsonb) as given (id uuid, other uuid, first_seen timestamptz)
    ), alive as (
      select given.id, signature.id as signature_id, signature.organization_id,
        (select count(*) from ${errorAliases} as known where known.signature_id = signature.id) as aliases
      from given
      left join ${errorAliases} as alias on alias.id = given.other
      join ${errorSignatures} as signature on signature.id = coalesce(alias.signature_id, given.other)
      where signature.last_seen > given.first_seen - make_interval(days => ${SILENT_DAYS})
      order by signature.id for no key update of signature
    ), found as (
      select * from (select *, row_number() over (partition by signature_id order by id) as number from alive) as numbered
      where aliases + number <= ${MOST_ALIASES}
    ), noted as (
      insert into ${errorAliases} (id, organization_id, signature_id)
      select id, organization_id, signature_id from found order by id on conflict do nothing
    )
    select id, signature_id from found`);
  return new Map(rows.map(({ id, signature_id: into }) => [id, into]));
}

/** The id that the other version of the rules gives. */
async function otherId(tx: Transaction, each: Description): Promise<string> {
  if (each.grouping_version === EARLIER_VERSION) return unmappedId(each);
  const read = sourcedFrames(each.stack_trace, each.message, each.frames);
  const frames = each.category === "message" || each.category === "chunk_load" ? [] : read;
  const custom = customOf(each.grouping_parts);
  const print = earlierFingerprint({ type: each.type, message: each.message, frames, custom, causes: await causesOf(tx, each) });
  return signatureId(each.service_id, EARLIER_VERSION, print);
}

/** Rows keep no frames of causes, so those of mapped errors are mapped again. */
async function causesOf(tx: Transaction, { causes, service_id: serviceId, frames, release, debug_ids }: Description): Promise<GroupableCause[]> {
  const given = JSON.parse(causes) as { error_type: string; message: string; stack: string }[];
  const isMapped = given.length > 0 && frames.some(({ original }) => original !== null);
  const mapped = isMapped ? await framesWithMaps(tx, serviceId, given.map(({ stack, message }) => ({ frames: "", stack, message, release, debug_ids }))) : [];
  return given.map(({ error_type: type, message, stack }, index) => ({ type, message, frames: sourcedFrames(stack, message, mapped[index] ?? []) }));
}
