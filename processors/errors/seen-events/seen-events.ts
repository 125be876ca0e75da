import type { BriefRow } from "../../../domain/errors/brief-rows.ts";
import type { ClickHouse } from "../../../platform/clickhouse/port.ts";
import type { ElsewhereToo } from "../flood-reader.ts";
import { hashGivenIds } from "./id-hash.ts";
import { countStanding, makeCountedIds, receivedAtOf, withoutRepeated } from "./judge-seen.ts";
import type { CountedIds } from "./judge-seen.ts";
import { lookUpIds, type AskedId } from "./look-up.ts";
import { makePartitionFilters, type FilterNeeds } from "./partition-filters.ts";

/** Counts an event whose id was given by its client once per service and hour. */
export interface SeenEvents {
  /**
   * After a takeover: `kept` partitions had no other owner since and keep their filters. The
   * others warm anew, in the background. Forgets partitions not named. `logId` is the log as rows
   * name it.
   */
  assign(logId: string, partitions: readonly { partition: number; kept: boolean }[]): void;
  /** Resolves when all filters are warm, or after 30 s. Until then each id is looked up. */
  warm(): Promise<void>;
  /**
   * Returns, of `missing` (computed rows that do not stand in ClickHouse), those to be inserted.
   * `standing` are rows of the same batch which stand in ClickHouse already. They always count.
   * Rejects as ClickHouse does, and may be repeated.
   */
  withoutSeen(missing: readonly BriefRow[], standing: readonly BriefRow[]): Promise<BriefRow[]>;
  /** Returns the bytes and ids held, for a gauge. */
  size(): { bytes: number; ids: number };
}

interface SeenNeeds extends FilterNeeds {
  /** Reads of which organizations ids may stand in another topic, which no filter here knows. Asked once a batch; never rejects. */
  readElsewhere(): Promise<ElsewhereToo>;
}

/** Filters only decide which ids ClickHouse is asked for. ClickHouse decides which were seen. */
export function makeSeenEvents(needs: SeenNeeds): SeenEvents {
  const { clickhouse, readElsewhere } = needs;
  const filters = makePartitionFilters(needs);

  /** An id needs no look-up when a filter that knows all of its hour has not met it. */
  function isAsked(row: BriefRow, [low, high]: [number, number], elsewhereToo: ElsewhereToo): boolean {
    const filter = filters.trusted(row.partition, receivedAtOf(row));
    return !filter || elsewhereToo(row.organization_id) || filter.mayContain(low, high);
  }

  function remember({ rows, hashes }: HashedRows): void {
    for (const [at, row] of rows.entries()) {
      const filter = filters.filterOf(row.partition);
      filter?.add(hashes[2 * at]!, hashes[2 * at + 1]!, receivedAtOf(row));
    }
  }

  return {
    assign: filters.assign,
    warm: filters.warm,
    async withoutSeen(missing, standing) {
      const given = hashedOf(missing);
      const elsewhereToo = given.rows.length === 0 ? () => false : await readElsewhere();
      const asked = keepHashed(given, (row, at) => {
        return isAsked(row, [given.hashes[2 * at]!, given.hashes[2 * at + 1]!], elsewhereToo);
      });
      const counted = await lookUp(clickhouse, asked, elsewhereToo);
      const standingIds = hashedOf(standing);
      for (const row of standingIds.rows) countStanding(counted, row);
      const kept = withoutRepeated(missing, counted);
      const isKept = new Set(kept);
      remember(standingIds);
      remember(keepHashed(given, (row) => isKept.has(row)));
      return kept;
    },
    size: filters.size,
  };
}

/** Rows with an id of their client, and the two words of each one's hash. */
interface HashedRows {
  rows: BriefRow[];
  hashes: Uint32Array;
}

function hashedOf(all: readonly BriefRow[]): HashedRows {
  const rows = all.filter((row) => row.event_id_given);
  return { rows, hashes: hashGivenIds(rows) };
}

type Keep = (row: BriefRow, at: number) => boolean;

function keepHashed({ rows, hashes }: HashedRows, keep: Keep): HashedRows {
  const kept: BriefRow[] = [];
  const words = new Uint32Array(hashes.length);
  for (const [at, row] of rows.entries()) {
    if (!keep(row, at)) continue;
    words[2 * kept.length] = hashes[2 * at]!;
    words[2 * kept.length + 1] = hashes[2 * at + 1]!;
    kept.push(row);
  }
  return { rows: kept, hashes: words.subarray(0, 2 * kept.length) };
}

/** Finds the ids that stand: in the own partition, or in all where they may be elsewhere. */
async function lookUp(
  clickhouse: ClickHouse,
  asked: HashedRows,
  elsewhereToo: ElsewhereToo,
): Promise<CountedIds> {
  const counted = makeCountedIds();
  const own: AskedId[] = [];
  const elsewhere: AskedId[] = [];
  for (const [at, row] of asked.rows.entries()) {
    const { service_id, event_id, partition } = row;
    const hash = (BigInt(asked.hashes[2 * at + 1]!) << 32n) | BigInt(asked.hashes[2 * at]!);
    const id = { service_id, event_id, partition, receivedAt: receivedAtOf(row), hash };
    (elsewhereToo(row.organization_id) ? elsewhere : own).push(id);
  }
  const here = await lookUpIds(clickhouse, own, { anywhere: false });
  const anywhere = await lookUpIds(clickhouse, elsewhere, { anywhere: true });
  for (const id of [...here, ...anywhere]) counted.add(id);
  return counted;
}
