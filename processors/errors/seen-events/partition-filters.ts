import { setTimeout as pause } from "node:timers/promises";
import type { ClickHouse } from "../../../platform/clickhouse/port.ts";
import type { Log } from "../../../platform/log.ts";
import { makePlaces } from "../../../platform/places.ts";
import type { MemoryBudget } from "./generation.ts";
import { makeSeenGenerations, type SeenGenerations } from "./generations.ts";
import { warmUp } from "./warm-up.ts";

/** The filters of the partitions that a consumer has. */
export interface PartitionFilters {
  assign(logId: string, partitions: readonly { partition: number; kept: boolean }[]): void;
  /** Resolves when the filters of all partitions are warm, or after 30 s. */
  warm(): Promise<void>;
  /** Returns the partition's filter when it is warm and covers the moment; null otherwise. */
  trusted(partition: number, receivedAt: number): SeenGenerations | null;
  /** Returns the partition's filter, warm or not; null when the partition is not assigned. */
  filterOf(partition: number): SeenGenerations | null;
  size(): { bytes: number; ids: number };
}

/** What filling the filters takes. */
export interface FilterNeeds {
  clickhouse: ClickHouse;
  log: Log;
  now: () => number;
  /** The most that all filters take together. */
  mostBytes?: number;
}

/** Enough for 34,000 ids a second with spare room. Beyond it, ids are looked up. */
const MOST_BYTES = 1024 * 1024 * 1024;
const WARM_WITHIN_MS = 30_000;
const TRY_AGAIN_MS = 1_000;
/** So many partitions are read at a time. */
const WARMED_AT_ONCE = 2;

interface Partition {
  logId: string;
  number: number;
  filter: SeenGenerations;
  warm: boolean;
  /** The partition was given away, or is warmed anew. */
  dropped: boolean;
  warming: Promise<void>;
}

/** Makes filters that fill themselves from ClickHouse. They take at most 1 GiB together. */
export function makePartitionFilters(needs: FilterNeeds): PartitionFilters {
  const { now, mostBytes = MOST_BYTES } = needs;
  const budget: MemoryBudget = { left: mostBytes };
  const places = makePlaces(WARMED_AT_ONCE);
  const partitions = new Map<number, Partition>();

  function open(logId: string, number: number): void {
    const filter = makeSeenGenerations(budget, now);
    const warming = Promise.resolve();
    const partition: Partition = { logId, number, filter, warm: false, dropped: false, warming };
    partitions.set(number, partition);
    partition.warming = warmInTurn(needs, places.take, partition);
  }

  function drop(partition: Partition): void {
    partition.dropped = true;
    partition.filter.clear();
    partitions.delete(partition.number);
  }

  return {
    assign(logId, assigned) {
      const kept = new Set(assigned.filter((each) => each.kept).map(({ partition }) => partition));
      for (const each of partitions.values()) {
        if (each.logId !== logId || !kept.has(each.number)) drop(each);
      }
      for (const { partition } of assigned) if (!partitions.has(partition)) open(logId, partition);
    },
    async warm() {
      const all = Promise.all([...partitions.values()].map(({ warming }) => warming));
      const timer = new AbortController();
      const late = pause(WARM_WITHIN_MS, undefined, { signal: timer.signal });
      await Promise.race([all, late.catch(() => undefined)]);
      timer.abort();
    },
    trusted(number, receivedAt) {
      const partition = partitions.get(number);
      return partition?.warm && partition.filter.covers(receivedAt) ? partition.filter : null;
    },
    filterOf: (number) => partitions.get(number)?.filter ?? null,
    size() {
      const sizes = [...partitions.values()].map(({ filter }) => filter.size());
      const sum = (values: number[]): number => values.reduce((one, other) => one + other, 0);
      return { bytes: sum(sizes.map(({ bytes }) => bytes)), ids: sum(sizes.map(({ ids }) => ids)) };
    },
  };
}

type Take = () => Promise<() => void>;

/** Warms a partition, again and again while ClickHouse is away. */
async function warmInTurn(needs: FilterNeeds, take: Take, partition: Partition): Promise<void> {
  const { clickhouse, log, now } = needs;
  const { logId, number, filter } = partition;
  const stopped = (): boolean => partition.dropped;
  while (!partition.warm && !stopped()) {
    const giveBack = await take();
    try {
      if (stopped()) return;
      const source = { clickhouse, logId, partition: number, now: now(), stopped };
      const ids = await warmUp(source, filter);
      partition.warm = !stopped();
      log.debug({ partition: number, ids }, "the filter of event ids is warm");
    } catch (error) {
      const about = { err: error, partition: number };
      log.warn(about, "the filter of event ids stays cold; every id is looked up");
      await pause(TRY_AGAIN_MS, undefined, { ref: false });
    } finally {
      giveBack();
    }
  }
}
