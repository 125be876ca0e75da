import { setTimeout as pause } from "node:timers/promises";
import type { BriefRow } from "../../../domain/errors/brief-rows.ts";
import type { ClickHouse } from "../../../platform/clickhouse/port.ts";
import type { Log } from "../../../platform/log.ts";
import { makePlaces } from "../../../platform/places.ts";
import { makeSeenGenerations, type MemoryBudget, type SeenGenerations } from "./generations.ts";
import { hashGivenIds } from "./id-hash.ts";
import { makeCountedIds, placeOf, receivedAtOf, withoutRepeated } from "./judge-seen.ts";
import { lookUpIds, type AskedId } from "./look-up.ts";
import { warmUp } from "./warm-up.ts";

/** Counts an event whose id was given by its client once per service and hour. */
export interface SeenEvents {
  /**
   * After a takeover: `kept` partitions had no other owner since and keep their filters; the others warm anew, in the
   * background. Forgets partitions not named. `logId` is the log as rows name it.
   */
  assign(logId: string, partitions: readonly { partition: number; kept: boolean }[]): void;
  /** Resolves when the filters of all partitions are warm, or after 30 s. Until warm, each id is looked up. */
  warm(): Promise<void>;
  /**
   * Returns, of `missing` (computed rows that do not stand in ClickHouse), those to be inserted. `standing` are rows of the
   * same batch which stand in ClickHouse already; they always count. Rejects as ClickHouse does, and may be repeated.
   */
  withoutSeen(missing: readonly BriefRow[], standing: readonly BriefRow[]): Promise<BriefRow[]>;
  /** Returns the bytes and ids held, for a gauge. */
  size(): { bytes: number; ids: number };
}

interface SeenNeeds {
  clickhouse: ClickHouse;
  log: Log;
  now: () => number;
  /** Whether the organization's ids may stand in another topic, of which the filters know nothing: then all are looked up. */
  elsewhereToo(organizationId: string): boolean;
  /** The most that all filters take together. */
  mostBytes?: number;
}

/** For 34,000 ids a second with spare room; beyond it ids are looked up. */
const MOST_BYTES = 1024 * 1024 * 1024;
const WARM_WITHIN_MS = 30_000;
const TRY_AGAIN_MS = 1_000;
/** So many partitions are read at a time. */
const WARMED_AT_ONCE = 2;

interface Partition {
  filter: SeenGenerations;
  warm: boolean;
  /** Nobody needs it any more. */
  dropped: boolean;
  warming: Promise<void>;
}

/** Filters only decide which ids ClickHouse is asked for. ClickHouse decides which were seen. */
export function makeSeenEvents(needs: SeenNeeds): SeenEvents {
  const { now } = needs;
  const budget: MemoryBudget = { left: needs.mostBytes ?? MOST_BYTES };
  const places = makePlaces(WARMED_AT_ONCE);
  const partitions = new Map<number, Partition>();
  let currentLog = "";

  function open(number: number): void {
    const partition: Partition = { filter: makeSeenGenerations(budget, now), warm: false, dropped: false, warming: Promise.resolve() };
    partitions.set(number, partition);
    partition.warming = warmInTurn(needs, places.take, { logId: currentLog, number, partition });
  }

  function drop(number: number, partition: Partition): void {
    partition.dropped = true;
    partition.filter.clear();
    partitions.delete(number);
  }

  function isAsked(row: BriefRow, low: number, high: number): boolean {
    const partition = partitions.get(row.partition);
    if (!partition?.warm || !partition.filter.covers(receivedAtOf(row))) return true;
    return needs.elsewhereToo(row.organization_id) || partition.filter.mayContain(low, high);
  }

  function remember(rows: readonly BriefRow[]): void {
    const given = rows.filter((row) => row.event_id_given);
    const hashes = hashGivenIds(given);
    for (let at = 0; at < given.length; at++) partitions.get(given[at]!.partition)?.filter.add(hashes[2 * at]!, hashes[2 * at + 1]!, receivedAtOf(given[at]!));
  }

  async function lookUp(asked: readonly BriefRow[]): Promise<ReturnType<typeof makeCountedIds>> {
    const counted = makeCountedIds();
    if (asked.length === 0) return counted;
    const isElsewhere = asked.map((row) => needs.elsewhereToo(row.organization_id));
    for (const anywhere of [false, true]) {
      const ids = withHashes(asked.filter((_row, at) => isElsewhere[at] === anywhere));
      for (const { receivedAt, ...found } of await lookUpIds(needs.clickhouse, ids, { anywhere })) counted.add({ ...found, receivedAt, place: placeOf(found) });
    }
    return counted;
  }

  return {
    assign(logId, assigned) {
      const kept = new Set(assigned.filter((each) => each.kept && logId === currentLog).map(({ partition }) => partition));
      currentLog = logId;
      for (const [number, partition] of partitions) if (!kept.has(number)) drop(number, partition);
      for (const { partition } of assigned) if (!partitions.has(partition)) open(partition);
    },

    async warm() {
      const late = new AbortController();
      const all = Promise.all([...partitions.values()].map(({ warming }) => warming));
      await Promise.race([all, pause(WARM_WITHIN_MS, undefined, { signal: late.signal, ref: false }).catch(() => undefined)]);
      late.abort();
    },

    async withoutSeen(missing, standing) {
      const given = missing.filter((row) => row.event_id_given);
      const hashes = hashGivenIds(given);
      const counted = await lookUp(given.filter((row, at) => isAsked(row, hashes[2 * at]!, hashes[2 * at + 1]!)));
      for (const row of standing) if (row.event_id_given) counted.add({ service_id: row.service_id, event_id: row.event_id, receivedAt: receivedAtOf(row), place: placeOf(row) });
      const kept = withoutRepeated(missing, counted);
      remember(standing);
      remember(kept);
      return kept;
    },

    size() {
      const sizes = [...partitions.values()].map(({ filter }) => filter.size());
      return { bytes: sizes.reduce((sum, { bytes }) => sum + bytes, 0), ids: sizes.reduce((sum, { ids }) => sum + ids, 0) };
    },
  };
}

interface Warmed {
  logId: string;
  number: number;
  partition: Partition;
}

/** Warms a partition, again and again while ClickHouse is away. */
async function warmInTurn({ clickhouse, log, now }: SeenNeeds, take: () => Promise<() => void>, { logId, number, partition }: Warmed): Promise<void> {
  const stopped = (): boolean => partition.dropped;
  while (!partition.warm && !partition.dropped) {
    const giveBack = await take();
    try {
      const ids = stopped() ? 0 : await warmUp({ clickhouse, logId, partition: number, filter: partition.filter, now: now(), stopped });
      partition.warm = !stopped();
      log.debug({ partition: number, ids }, "the filter of event ids is warm");
    } catch (error) {
      log.warn({ err: error, partition: number }, "the filter of event ids stays cold; every id is looked up");
    } finally {
      giveBack();
    }
    if (!partition.warm && !stopped()) await pause(TRY_AGAIN_MS, undefined, { ref: false });
  }
}

/** Gives what a look-up needs of rows. */
function withHashes(rows: readonly BriefRow[]): AskedId[] {
  const hashes = hashGivenIds(rows);
  return rows.map((row, at) => ({
    service_id: row.service_id,
    event_id: row.event_id,
    partition: row.partition,
    receivedAt: receivedAtOf(row),
    hash: (BigInt(hashes[2 * at + 1]!) << 32n) | BigInt(hashes[2 * at]!),
  }));
}
