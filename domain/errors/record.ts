import { sql } from "drizzle-orm";
import type { Transaction } from "../../platform/postgres/database.ts";
import type { BeaconEventRow } from "../../schemas/messages/beacon-event-row.ts";
import { errorSignatures, services } from "../../schemas/tables/all.ts";
import type { ErrorCategory, EventType } from "../../schemas/vocabulary.ts";
import { emitEvents, type NewEvent } from "../events/emit.ts";
import { isoMoment } from "./ask-clickhouse.ts";
import { firstPriority } from "./classify.ts";

/** What a batch adds to one signature, named as the columns of `error_signatures`. */
interface Increment {
  id: string;
  organization_id: string;
  service_id: string;
  grouping_version: string;
  fingerprint: string;
  type: string;
  message: string;
  culprit: string | null;
  category: ErrorCategory;
  priority: string;
  handled: boolean;
  occurrences: number;
  first_seen: string;
  last_seen: string;
  release: string;
  environment: string;
  stack_trace: string;
  frames: unknown;
  grouping_parts: unknown;
}

/**
 * Counts a batch of occurrences into their signatures, in the transaction that also moves the consumer's cursor:
 * new signatures are made from their first event and announced as `error.new`, resolved ones that happened again
 * become regressed. Rows of services that were deleted meanwhile are left out. `created` holds the new ids.
 */
export async function recordOccurrences(tx: Transaction, rows: BeaconEventRow[]): Promise<{ created: string[] }> {
  const increments = incrementsOf(rows);
  if (increments.length === 0) return { created: [] };
  // Nearly all of a batch belongs to signatures that exist, for which stacks and frames need not travel.
  const counted = await countKnown(tx, increments);
  const known = new Set(counted.map(({ id }) => id));
  const created = await countNew(tx, increments.filter(({ id }) => !known.has(id)));
  const byId = new Map(increments.map((each) => [each.id, each]));
  await emitEvents(tx, [
    ...created.map((id) => eventOf("error.new", byId.get(id)!)),
    ...counted.filter(({ regressed }) => regressed).map(({ id }) => eventOf("error.regressed", byId.get(id)!)),
  ]);
  return { created };
}

/** One entry for each signature, sorted by id so that batches lock rows in the same order. */
function incrementsOf(rows: BeaconEventRow[]): Increment[] {
  const groups = new Map<string, { first: BeaconEventRow; last_seen: string; occurrences: number }>();
  for (const row of rows) {
    if (row.type === "vital") continue;
    const group = groups.get(row.signature_id);
    if (!group) {
      groups.set(row.signature_id, { first: row, last_seen: row.occurred_at, occurrences: 1 });
      continue;
    }
    group.occurrences++;
    // Moments of this shape compare as texts.
    if (row.occurred_at < group.first.occurred_at) group.first = row;
    if (row.occurred_at > group.last_seen) group.last_seen = row.occurred_at;
  }
  return [...groups.values()].map(incrementOf).sort((left, right) => (left.id < right.id ? -1 : 1));
}

function incrementOf({ first, last_seen, occurrences }: { first: BeaconEventRow; last_seen: string; occurrences: number }): Increment {
  const category = first.category || "javascript";
  return {
    id: first.signature_id,
    organization_id: first.organization_id,
    service_id: first.service_id,
    grouping_version: first.grouping_version,
    fingerprint: first.fingerprint,
    type: first.error_type,
    message: first.message,
    culprit: first.culprit || null,
    category,
    priority: firstPriority(category, first.handled),
    handled: first.handled,
    occurrences,
    first_seen: isoMoment(first.occurred_at),
    last_seen: isoMoment(last_seen),
    release: first.release,
    environment: first.environment,
    stack_trace: first.stack,
    frames: JSON.parse(first.frames),
    grouping_parts: JSON.parse(first.grouping_parts),
  };
}

/** Adds to the signatures that exist. An event after everything that was seen of a resolved one brings it back, once. */
async function countKnown(tx: Transaction, increments: Increment[]): Promise<{ id: string; regressed: boolean }[]> {
  const batch = JSON.stringify(increments.map(({ id, occurrences, first_seen, last_seen }) => ({ id, occurrences, first_seen, last_seen })));
  const { rows } = await tx.execute<{ id: string; regressed: boolean }>(sql`
    with batch as (
      select * from jsonb_to_recordset(${batch}::jsonb) as row (id uuid, occurrences bigint, first_seen timestamptz, last_seen timestamptz)
    ), locked as (
      select signature.id, signature.status from ${errorSignatures} as signature join batch on batch.id = signature.id
      order by signature.id for no key update of signature
    )
    update ${errorSignatures} as signature set
      occurrences = signature.occurrences + batch.occurrences,
      first_seen = least(signature.first_seen, batch.first_seen),
      last_seen = greatest(signature.last_seen, batch.last_seen),
      status = case when signature.status = 'resolved' and batch.last_seen > signature.last_seen then 'regressed' else signature.status end
    from batch join locked on locked.id = batch.id
    where signature.id = batch.id
    returning signature.id, (locked.status = 'resolved' and signature.status = 'regressed') as regressed`);
  return rows;
}

const COLUMNS = sql.raw(`id uuid, organization_id uuid, service_id uuid, grouping_version text, fingerprint text, type text, message text, culprit text,
  category error_category, priority priority, handled boolean, occurrences bigint, first_seen timestamptz, last_seen timestamptz, release text,
  environment text, stack_trace text, frames jsonb, grouping_parts jsonb`);

/** Makes the signatures that did not exist; ids of those that this statement made, as against another processor just before. */
async function countNew(tx: Transaction, increments: Increment[]): Promise<string[]> {
  if (increments.length === 0) return [];
  const { rows } = await tx.execute<{ id: string; created: boolean }>(sql`
    insert into ${errorSignatures} as signature
      (id, organization_id, service_id, grouping_version, fingerprint, type, message, culprit, category, priority, handled, occurrences,
       first_seen, last_seen, release, environment, stack_trace, frames, grouping_parts)
    select row.id, row.organization_id, row.service_id, row.grouping_version, row.fingerprint, row.type, row.message, row.culprit, row.category, row.priority,
      row.handled, row.occurrences, row.first_seen, row.last_seen, row.release, row.environment, row.stack_trace, row.frames, row.grouping_parts
    from jsonb_to_recordset(${JSON.stringify(increments)}::jsonb) as row (${COLUMNS})
    join ${services} as service on service.id = row.service_id and service.organization_id = row.organization_id
    order by row.id
    for key share of service
    on conflict (id) do update set
      occurrences = signature.occurrences + excluded.occurrences,
      first_seen = least(signature.first_seen, excluded.first_seen),
      last_seen = greatest(signature.last_seen, excluded.last_seen)
    returning signature.id, (xmax = 0) as created`);
  return rows.filter(({ created }) => created).map(({ id }) => id);
}

function eventOf(type: EventType, signature: Increment): NewEvent {
  const { id, service_id, message, category, priority, culprit, release, environment, first_seen, last_seen, occurrences } = signature;
  return {
    organizationId: signature.organization_id,
    type,
    data: { id, service_id, type: signature.type, message, category, priority, culprit, release: release || null, environment, occurrences, first_seen, last_seen },
    at: new Date(last_seen),
  };
}
