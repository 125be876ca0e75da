import { REMEMBERED_MS } from "../../../domain/floods/read.ts";
import type { ClickHouse } from "../../../platform/clickhouse/port.ts";
import { SLOT_MS, slotOf } from "./generations.ts";
import type { GivenId } from "./id-hash.ts";
import { placeOf, type CountedId, type Place } from "./judge-seen.ts";

/** One id to look up. */
export interface AskedId extends GivenId {
  /** As in `id_hash`. */
  hash: bigint;
  partition: number;
  receivedAt: number;
}

type Candidate = GivenId & Place & { receivedAt: number };

const AT_ONCE = 5_000;

/**
 * Finds where ids stand, received within an hour of the earliest and latest of those asked. Only an
 * id whose row stands in `beacon_events` is found: a view's row may stand without it. `anywhere`
 * searches all partitions, and not only the id's own. Both logs are always searched.
 */
export async function lookUpIds(
  clickhouse: ClickHouse,
  asked: readonly AskedId[],
  { anywhere }: { anywhere: boolean },
): Promise<CountedId[]> {
  const found: CountedId[] = [];
  for (let at = 0; at < asked.length; at += AT_ONCE) {
    const candidates = await findCandidates(clickhouse, asked.slice(at, at + AT_ONCE), anywhere);
    for (let from = 0; from < candidates.length; from += AT_ONCE) {
      found.push(...(await confirm(clickhouse, candidates.slice(from, from + AT_ONCE))));
    }
  }
  return found;
}

const ANYWHERE = "(id_hash, event_id) IN arrayZip({hashes:Array(UInt64)}, {ids:Array(UUID)})";
const IN_PARTITION = `(partition, id_hash, event_id)
  IN arrayZip({partitions:Array(UInt16)}, {hashes:Array(UInt64)}, {ids:Array(UUID)})`;

async function findCandidates(
  clickhouse: ClickHouse,
  asked: readonly AskedId[],
  anywhere: boolean,
): Promise<Candidate[]> {
  const moments = asked.map(({ receivedAt }) => receivedAt);
  const since = moments.reduce((one, other) => Math.min(one, other)) - REMEMBERED_MS;
  const until = moments.reduce((one, other) => Math.max(one, other)) + REMEMBERED_MS;
  return clickhouse.query<Candidate>(
    `SELECT service_id, event_id, log_id, partition, offset, index,
       toFloat64(toUnixTimestamp64Milli(received_at)) AS receivedAt
     FROM seen_event_ids
     WHERE ${anywhere ? ANYWHERE : IN_PARTITION}
       AND slot BETWEEN toDateTime({first:Int64}, 'UTC') AND toDateTime({last:Int64}, 'UTC')
       AND received_at > fromUnixTimestamp64Milli({since:Int64})
       AND received_at < fromUnixTimestamp64Milli({until:Int64})`,
    {
      partitions: asked.map(({ partition }) => partition),
      hashes: asked.map(({ hash }) => hash),
      ids: asked.map(({ event_id: id }) => id),
      first: slotOf(since) / 1_000,
      last: (slotOf(until) + SLOT_MS) / 1_000,
      since,
      until,
    },
  );
}

/** Leaves those whose row stands. The projection by place finds it without reading others. */
async function confirm(clickhouse: ClickHouse, candidates: Candidate[]): Promise<CountedId[]> {
  const rows = await clickhouse.query<Place>(
    `SELECT log_id, partition, offset, index FROM beacon_events
     WHERE (log_id, partition, offset, index) IN arrayZip({logs:Array(String)},
       {partitions:Array(UInt16)}, {offsets:Array(UInt64)}, {indexes:Array(UInt32)})`,
    {
      logs: candidates.map((candidate) => candidate.log_id),
      partitions: candidates.map(({ partition }) => partition),
      offsets: candidates.map(({ offset }) => BigInt(offset)),
      indexes: candidates.map(({ index }) => index),
    },
  );
  const standing = new Set(rows.map(placeOf));
  const found: CountedId[] = [];
  for (const candidate of candidates) {
    const { service_id, event_id, receivedAt } = candidate;
    const place = placeOf(candidate);
    if (standing.has(place)) found.push({ service_id, event_id, receivedAt, place });
  }
  return found;
}
