import { sql } from "drizzle-orm";
import type { Transaction } from "../../platform/postgres/database.ts";
import { uuids } from "../../platform/postgres/uuids.ts";
import type { BeaconEventRow } from "../../schemas/messages/beacon-event-row.ts";
import type { Frame, GroupingPart, StoredFrame } from "../../schemas/frames.ts";
import { errorSignatures, errorStacks, releases, services } from "../../schemas/tables/all.ts";
import type { ErrorCategory, EventType } from "../../schemas/vocabulary.ts";
import { emitEvents, type NewEvent } from "../events/emit.ts";
import { storableJson } from "../events/storable-json.ts";
import { noteSeenReleases } from "../releases/note-seen.ts";
import { withContexts } from "../source-maps/read-contexts.ts";
import { adoptEarlier } from "./adopt-earlier.ts";
import { adoptUnmapped, noteLate } from "./adopt-unmapped.ts";
import { mergedInto } from "./aliases.ts";
import { isoMoment } from "./ask-clickhouse.ts";
import type { BriefRow } from "./brief-rows.ts";
import { creationDay, UNBOUNDED, type CreationDay } from "./creation-bounds.ts";
import { firstPriority } from "./classify.ts";
import { countBySignature, joinCounted, lastRelease, releasesOf, type Counted, type Increment } from "./count-by-signature.ts";
import { regressingRelease } from "./decide-regression.ts";
import { EARLIER_VERSION } from "./earlier-fingerprint.ts";
import { framesOf, groupingPartsOf } from "./left-out.ts";
import { noteCreations } from "./note-creations.ts";
import { noteEnvironments, type FoundEnvironments } from "./note-environments.ts";
import { makeNotedEnvironments, type NotedEnvironments, type SignatureEnvironment } from "./noted-environments.ts";
import { TOO_MANY, tooManyId } from "./too-many.ts";

/** What a signature is made of, from its first event. */
export interface Description extends Increment {
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
  release: string;
  environment: string;
  stack_trace: string;
  causes: string;
  debug_ids: string;
  frames: (StoredFrame | Frame)[];
  grouping_parts: GroupingPart[];
}

/** Gives rows with all their columns. */
export type ReadRows = (wanted: readonly BriefRow[]) => Promise<BeaconEventRow[]>;

/** What counting needs to know beside the rows. */
export interface CountingNeeds {
  /** Asked only when a signature is new or came back. */
  readRows: ReadRows;
  today: CreationDay;
  noted: Pick<NotedEnvironments, "isNoted">;
}

/** What counting made. */
export interface CountedBatch {
  /** Ids of new signatures. */
  created: string[];
  /** To be remembered once the transaction is committed. */
  environments: SignatureEnvironment[];
}

/** `recordCounted` of rows that are whole. */
export function recordOccurrences(tx: Transaction, rows: BeaconEventRow[]): Promise<CountedBatch> {
  return recordCounted(tx, rows, { readRows: async () => rows, today: creationDay(UNBOUNDED, Date.now()), noted: makeNotedEnvironments() });
}

/**
 * Counts a batch of occurrences into their signatures, in the transaction that also moves the consumer's cursor:
 * new signatures are made from their first event and announced as `error.new`, resolved ones that happened again
 * become regressed, ignored ones whose condition is met become new without a word. Releases that are named for the first
 * time are made. Rows of services that were deleted meanwhile are left out. `readRows` gives, of rows in brief, those with
 * all their columns that describe their signatures: the first one of each, and one that has its details. What was made
 * newly counts for `today`; of signatures and environments the rows have no more than may be made, releases are bounded
 * here.
 */
export async function recordCounted(tx: Transaction, rows: BriefRow[], needs: CountingNeeds): Promise<CountedBatch> {
  const { today } = needs;
  const ofReleases = await noteSeenReleases(tx, releasesOf(rows), { day: today.day, bound: today.bounds.releases });
  const { created, environments } = await countRows(tx, rows, needs);
  await noteCreations(tx, today.day, [
    ...ofReleases.map((serviceId) => ({ serviceId, kind: "release" as const })),
    ...created.filter(({ id, service_id: serviceId }) => id !== tooManyId(serviceId)).map(({ service_id: serviceId }) => ({ serviceId, kind: "signature" as const })),
    ...environments.services.map((serviceId) => ({ serviceId, kind: "environment" as const })),
  ]);
  return { created: created.map(({ id }) => id), environments: environments.pairs };
}

interface CountedRows {
  created: Description[];
  environments: FoundEnvironments;
}

async function countRows(tx: Transaction, rows: BriefRow[], { readRows, noted }: CountingNeeds): Promise<CountedRows> {
  const aliases = await mergedInto(tx, [...new Set(rows.flatMap((row) => (row.type === "vital" ? [] : [row.signature_id])))]);
  const byId = countBySignature(rows, aliases);
  if (byId.size === 0) return { created: [], environments: { services: [], pairs: [] } };
  const batch = [...byId.values()].sort((left, right) => (left.increment.id < right.increment.id ? -1 : 1));
  // Nearly all of a batch belongs to signatures that exist, for which stacks and frames need not travel.
  const { missing: unknown, again } = await countKnown(tx, batch.map(({ increment }) => increment));
  const missing = batch.filter(({ increment }) => unknown.has(increment.id));
  const described = await describe(missing, { rows, aliases, readRows });
  const adopted = await adoptUnmapped(tx, [...described.values()]);
  const adoptedIds = new Set(adopted.values());
  const ofAdopted = missing.filter(({ increment }) => adoptedIds.has(increment.id));
  again.push(...(await countKnown(tx, ofAdopted.map(({ increment }) => increment))).again);
  const strange = missing.filter(({ increment }) => !adoptedIds.has(increment.id));
  const descriptionsOf = (some: readonly Counted[]): Description[] => some.map(({ increment }) => described.get(increment.id)!);
  const earlier = new Map<string, string>();
  const created: string[] = [];
  // Those of the earlier rules first: others of the batch may become part of them.
  const isEarlier = ({ increment }: Counted): boolean => described.get(increment.id)!.grouping_version === EARLIER_VERSION;
  for (const some of [strange.filter(isEarlier), strange.filter((each) => !isEarlier(each))]) {
    for (const [id, signature] of await adoptEarlier(tx, descriptionsOf(some.filter((each) => !isTooMany(each))))) earlier.set(id, signature);
    const fresh = some.filter(({ increment }) => !earlier.has(increment.id));
    created.push(...(await countNew(tx, await withSources(tx, descriptionsOf(fresh)))));
  }
  const ofEarlier = joinEarlier(strange, earlier);
  again.push(...(await countKnown(tx, ofEarlier.map(({ increment }) => increment))).again);
  for (const each of ofEarlier) byId.set(each.increment.id, joined(byId.get(each.increment.id), each));
  const ids = idsOfRows(rows, aliases, earlier);
  const back = onceEach(again);
  const regressed = [
    ...back.filter((each) => each.regressed).map(({ id }) => ({ id, release: lastRelease(byId.get(id)!) })),
    ...(await regressByRelease(tx, back.filter((each) => each.resolved_in !== null), byId)),
  ];
  const environments = await noteEnvironments(tx, rows, { aliases: new Map([...ids, ...adopted]), noted });
  if (created.length === 0 && regressed.length === 0) return { created: [], environments };
  const returned = await describe(regressed.map(({ id }) => byId.get(id)!), { rows, aliases: ids, readRows });
  const made = created.map((id) => described.get(id)!);
  await noteLate(tx, made);
  await emitEvents(tx, [
    ...made.map((each) => eventOf("error.new", each)),
    ...regressed.map(({ id, release }) => eventOf("error.regressed", { ...returned.get(id)!, release })),
  ]);
  return { created: made, environments };
}

/** What a batch adds to the signatures of the earlier rules that its own became part of: one for each, in the order of their ids. */
function joinEarlier(batch: readonly Counted[], earlier: ReadonlyMap<string, string>): Counted[] {
  const byId = new Map<string, Counted>();
  for (const each of batch) {
    const id = earlier.get(each.increment.id);
    if (id !== undefined) byId.set(id, joined(byId.get(id), { ...each, increment: { ...each.increment, id } }));
  }
  return [...byId.values()].sort((left, right) => (left.increment.id < right.increment.id ? -1 : 1));
}

function joined(one: Counted | undefined, other: Counted): Counted {
  return one === undefined ? other : joinCounted(one, other);
}

/** The signature of each id of rows that is not one itself. */
function idsOfRows(rows: readonly BriefRow[], aliases: ReadonlyMap<string, string>, earlier: ReadonlyMap<string, string>): ReadonlyMap<string, string> {
  if (earlier.size === 0) return aliases;
  const ids = new Map(aliases);
  for (const { signature_id: id } of rows) {
    const signature = earlier.get(aliases.get(id) ?? id);
    if (signature !== undefined) ids.set(id, signature);
  }
  return ids;
}

/** A signature that was added to twice comes once, with what either told. */
function onceEach(again: readonly HappenedAgain[]): HappenedAgain[] {
  const byId = new Map<string, HappenedAgain>();
  for (const each of again) {
    const other = byId.get(each.id);
    byId.set(each.id, other === undefined ? each : { ...(other.resolved_in === null ? each : other), regressed: each.regressed || other.regressed });
  }
  return [...byId.values()];
}

/** What signatures say of themselves, by id, from their first events; of which the first that has its details gives these. */
async function describe(wanted: Counted[], { rows, aliases, readRows }: { rows: BriefRow[]; aliases: ReadonlyMap<string, string>; readRows: ReadRows }): Promise<Map<string, Description>> {
  if (wanted.length === 0) return new Map();
  const tooMany = wanted.filter(isTooMany);
  const byId = new Map(wanted.filter((each) => !isTooMany(each)).map((each) => [each.increment.id, each]));
  const first = new Map<string, BeaconEventRow>();
  const detailed = new Map<string, BeaconEventRow>();
  const ofWanted = rows.filter((row) => byId.has(aliases.get(row.signature_id) ?? row.signature_id));
  for (const row of ofWanted.length === 0 ? [] : await readRows(ofWanted)) {
    const id = aliases.get(row.signature_id) ?? row.signature_id;
    const counted = byId.get(id);
    if (!counted) continue;
    if (placeOf(row) === placeOf(counted.first)) first.set(id, row);
    if (row.detailed && row.occurred_at < (detailed.get(id)?.occurred_at ?? "~")) detailed.set(id, row);
  }
  return new Map([
    ...tooMany.map((each): [string, Description] => [each.increment.id, describeTooMany(each)]),
    ...[...first].map(([id, row]): [string, Description] => [id, descriptionOf(row, row.detailed ? row : (detailed.get(id) ?? row), byId.get(id)!.increment)]),
  ]);
}

function isTooMany({ increment, first }: Counted): boolean {
  return increment.id === tooManyId(first.service_id);
}

function describeTooMany({ increment, first }: Counted): Description {
  const { organization_id, service_id, release, environment } = first;
  return { ...TOO_MANY, ...increment, organization_id, service_id, release, environment, priority: firstPriority(TOO_MANY.category, TOO_MANY.handled), frames: [] };
}

function placeOf({ log_id: logId, partition, offset, index }: BriefRow): string {
  return `${logId} ${partition} ${offset} ${index}`;
}

function descriptionOf(first: BeaconEventRow, details: BeaconEventRow, increment: Increment): Description {
  const category = first.category || "javascript";
  return {
    ...increment,
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
    release: first.release,
    environment: first.environment,
    stack_trace: details.stack,
    causes: details.causes,
    debug_ids: details.debug_ids,
    frames: framesOf(details),
    grouping_parts: groupingPartsOf(details),
  };
}

/** What stays with a signature, whatever becomes of the maps: the lines around its frames. */
async function withSources(tx: Transaction, fresh: Description[]): Promise<Description[]> {
  const byOrganization = new Map<string, Description[]>();
  for (const each of fresh) if (each.frames.some(({ original }) => original !== null)) byOrganization.set(each.organization_id, [...(byOrganization.get(each.organization_id) ?? []), each]);
  for (const [organizationId, mapped] of byOrganization) {
    for (const each of mapped) [each.frames] = (await withContexts(tx, organizationId, [each.frames as StoredFrame[]])) as [Frame[]];
  }
  return fresh;
}

/** A resolved signature that happened after its resolution. A type, because rows of a statement are records. */
type HappenedAgain = {
  id: string;
  regressed: boolean;
  /** Set when only its releases can tell whether it regressed. */
  resolved_in: string | null;
  /** ISO 8601. */
  resolved_at: string;
};

interface CountedKnown {
  /** Ids of signatures that do not exist. */
  missing: ReadonlySet<string>;
  again: HappenedAgain[];
}

/**
 * Adds to the signatures that exist. An event after its resolution brings a resolved one back, once.
 * Tells only of those where something remains to be done: of a large batch these are few.
 */
async function countKnown(tx: Transaction, increments: Increment[]): Promise<CountedKnown> {
  if (increments.length === 0) return { missing: new Set(), again: [] };
  const column = (of: (increment: Increment) => string | number): string => `{${increments.map(of).join(",")}}`;
  const { rows } = await tx.execute<HappenedAgain & { missing: boolean }>(sql`
    with batch as materialized (
      select * from unnest(${column(({ id }) => id)}::uuid[], ${column(({ occurrences }) => occurrences)}::bigint[],
        ${column(({ first_seen: moment }) => moment)}::timestamptz[], ${column(({ last_seen: moment }) => moment)}::timestamptz[])
        as row (id, occurrences, first_seen, last_seen)
    ), locked as (
      select signature.id, signature.status, signature.resolved_in_release, signature.ignore_until, signature.ignore_until_occurrences, signature.occurrences,
        coalesce(signature.resolved_at, signature.last_seen) as resolved_at
      from ${errorSignatures} as signature join batch on batch.id = signature.id
      order by signature.id for no key update of signature
    ), decided as (
      select locked.*, (locked.status = 'resolved' and batch.last_seen > locked.resolved_at) as again,
        (locked.status = 'ignored' and (batch.last_seen >= locked.ignore_until or locked.occurrences + batch.occurrences >= locked.ignore_until_occurrences)) is true as heard_again
      from locked join batch on batch.id = locked.id
    ), counted as (
      update ${errorSignatures} as signature set
        occurrences = signature.occurrences + batch.occurrences,
        first_seen = least(signature.first_seen, batch.first_seen),
        last_seen = greatest(signature.last_seen, batch.last_seen),
        status = case when decided.heard_again then 'new' when decided.again and decided.resolved_in_release is null then 'regressed' else signature.status end,
        ignore_until = case when decided.heard_again then null else signature.ignore_until end,
        ignore_until_occurrences = case when decided.heard_again then null else signature.ignore_until_occurrences end
      from batch join decided on decided.id = batch.id
      where signature.id = batch.id
      returning signature.id
    )
    select batch.id, counted.id is null as missing, decided.again and decided.resolved_in_release is null as regressed,
      decided.resolved_in_release as resolved_in,
      to_char(decided.resolved_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as resolved_at
    from batch left join counted on counted.id = batch.id left join decided on decided.id = batch.id
    where counted.id is null or decided.again`);
  return { missing: new Set(rows.filter(({ missing }) => missing).map(({ id }) => id)), again: rows.filter(({ missing }) => !missing) };
}

/** Brings back those of the signatures resolved in a release that happened in a later one; they are locked since they were counted. */
async function regressByRelease(tx: Transaction, inQuestion: HappenedAgain[], byId: ReadonlyMap<string, Counted>): Promise<{ id: string; release: string }[]> {
  if (inQuestion.length === 0) return [];
  const named = inQuestion.flatMap(({ id, resolved_in: resolvedIn }) => [...byId.get(id)!.lastSeenIn.keys(), resolvedIn!].map((version) => ({ service_id: byId.get(id)!.first.service_id, version })));
  const { rows } = await tx.execute<{ service_id: string; version: string; seen: string }>(sql`
    select distinct release.service_id, release.version, extract(epoch from release.created_at) as seen
    from ${releases} as release
    join jsonb_to_recordset(${JSON.stringify(named)}::jsonb) as row (service_id uuid, version text) on row.service_id = release.service_id and row.version = release.version`);
  const firstSeen = new Map<string, Map<string, number>>();
  for (const { service_id: service, version, seen } of rows) firstSeen.set(service, (firstSeen.get(service) ?? new Map<string, number>()).set(version, Number(seen)));

  const regressed = inQuestion.flatMap(({ id, resolved_in: resolvedIn, resolved_at: resolvedAt }) => {
    const { first, lastSeenIn } = byId.get(id)!;
    const moments = new Map([...lastSeenIn].map(([release, moment]) => [release, isoMoment(moment)]));
    const release = regressingRelease(moments, { resolvedAt, resolvedIn: resolvedIn! }, firstSeen.get(first.service_id) ?? new Map<string, number>());
    return release === null ? [] : [{ id, release }];
  });
  if (regressed.length > 0) await tx.update(errorSignatures).set({ status: "regressed" }).where(sql`${errorSignatures.id} = any(${uuids(regressed.map(({ id }) => id))})`);
  return regressed;
}

const COLUMNS = sql.raw(`id uuid, organization_id uuid, service_id uuid, grouping_version text, fingerprint text, type text, message text, culprit text,
  category error_category, priority priority, handled boolean, occurrences bigint, first_seen timestamptz, last_seen timestamptz, release text,
  environment text, stack_trace text, frames jsonb, grouping_parts jsonb`);

/** Makes the signatures that did not exist; ids of those that this statement made, as against another processor just before. */
async function countNew(tx: Transaction, increments: Description[]): Promise<string[]> {
  if (increments.length === 0) return [];
  const { rows } = await tx.execute<{ id: string; created: boolean }>(sql`
    with given as materialized (select * from jsonb_to_recordset(${storableJson(increments)}::jsonb) as row (${COLUMNS})),
    counted as (
      insert into ${errorSignatures} as signature
        (id, organization_id, service_id, grouping_version, fingerprint, type, message, culprit, category, priority, handled, occurrences, first_seen, last_seen, release, environment)
      select row.id, row.organization_id, row.service_id, row.grouping_version, row.fingerprint, row.type, row.message, row.culprit, row.category, row.priority,
        row.handled, row.occurrences, row.first_seen, row.last_seen, row.release, row.environment
      from given as row
      join ${services} as service on service.id = row.service_id and service.organization_id = row.organization_id
      order by row.id
      for key share of service
      on conflict (id) do update set
        occurrences = signature.occurrences + excluded.occurrences,
        first_seen = least(signature.first_seen, excluded.first_seen),
        last_seen = greatest(signature.last_seen, excluded.last_seen)
      returning signature.id, (xmax = 0) as created
    ), kept as (
      insert into ${errorStacks} (signature_id, organization_id, stack_trace, frames, grouping_parts)
      select row.id, row.organization_id, row.stack_trace, row.frames, row.grouping_parts
      from given as row join counted on counted.id = row.id where counted.created
    )
    select id, created from counted`);
  await refuseMerged(tx, increments);
  return rows.filter(({ created }) => created).map(({ id }) => id);
}

/** One that became part of another while we waited for its row would begin anew. What is counted is rolled back, and counted there the next time. */
async function refuseMerged(tx: Transaction, increments: Description[]): Promise<void> {
  const merged = await mergedInto(tx, increments.map(({ id }) => id));
  if (merged.size > 0) throw new Error("a signature became part of another meanwhile");
}

function eventOf(type: EventType, signature: Description): NewEvent {
  const { id, service_id, message, category, priority, culprit, release, environment, first_seen, last_seen, occurrences } = signature;
  return {
    organizationId: signature.organization_id,
    type,
    data: { id, service_id, type: signature.type, message, category, priority, culprit, release: release || null, environment, occurrences, first_seen, last_seen },
    at: new Date(last_seen),
  };
}
