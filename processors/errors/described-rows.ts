import { LRUCache } from "lru-cache";
import { inArray } from "drizzle-orm";
import type { BriefRow } from "../../domain/errors/brief-rows.ts";
import type { ReadRows } from "../../domain/errors/record.ts";
import type { ClickHouse } from "../../platform/clickhouse/port.ts";
import { stringLiteral } from "../../platform/clickhouse/tokens.ts";
import type { Database } from "../../platform/postgres/database.ts";
import { NIL_SIGNATURE, type BeaconEventRow } from "../../schemas/messages/beacon-event-row.ts";
import { errorSignatures } from "../../schemas/tables/all.ts";

/** The rows that describe new signatures, read from ClickHouse before the transaction that holds the signatures' locks. */
export interface DescribedRows {
  /** Reads the rows that describe those signatures of a batch which do not exist yet. */
  fetchRows(rows: readonly BriefRow[]): Promise<void>;
  /** Gives what was fetched for the batch; what was not is read now. */
  readerOf(rows: readonly BriefRow[]): ReadRows;
}

/** Signatures that are known to exist: nearly all events are of those. */
const REMEMBERED = 200_000;
/** A tuple takes about 150 bytes, and a query 256 KiB at most. */
const AT_ONCE = 1_000;

/** Without anything known. */
export function makeDescribedRows({ clickhouse, database }: { clickhouse: ClickHouse; database: Database }): DescribedRows {
  const existing = new LRUCache<string, true>({ max: REMEMBERED });
  const fetched = new WeakMap<readonly BriefRow[], Map<string, BeaconEventRow>>();

  async function unknownIds(rows: readonly BriefRow[]): Promise<Set<string>> {
    const unknown = new Set<string>();
    for (const { signature_id: id } of rows) if (id !== NIL_SIGNATURE && existing.get(id) === undefined) unknown.add(id);
    if (unknown.size === 0) return unknown;
    const found = await database.select({ id: errorSignatures.id }).from(errorSignatures).where(inArray(errorSignatures.id, [...unknown]));
    for (const { id } of found) {
      existing.set(id, true);
      unknown.delete(id);
    }
    return unknown;
  }

  return {
    async fetchRows(rows) {
      const unknown = await unknownIds(rows);
      if (unknown.size === 0) return;
      const wanted = rows.filter(({ signature_id: id }) => unknown.has(id));
      fetched.set(rows, new Map((await readDescribing(clickhouse, wanted)).map((row) => [placeOf(row), row])));
    },
    readerOf(rows) {
      const known = fetched.get(rows) ?? new Map<string, BeaconEventRow>();
      return async (wanted) => {
        const ids = new Set([...known.values()].map(({ signature_id: id }) => id));
        const missing = wanted.filter(({ signature_id: id }) => !ids.has(id));
        return [...known.values(), ...(missing.length > 0 ? await readDescribing(clickhouse, missing) : [])];
      };
    },
  };
}

/** The first row of each signature and, where that has no details, the first one that has. */
async function readDescribing(clickhouse: ClickHouse, rows: readonly BriefRow[]): Promise<BeaconEventRow[]> {
  const firsts = await readPlaces(clickhouse, firstRows(rows));
  const bare = new Set(firsts.flatMap(({ detailed, signature_id: id }) => (detailed ? [] : [id])));
  if (bare.size === 0) return firsts;
  return [...firsts, ...(await readPlaces(clickhouse, rows.filter(({ signature_id: id }) => bare.has(id)), "AND detailed ORDER BY occurred_at LIMIT 1 BY signature_id"))];
}

function firstRows(rows: readonly BriefRow[]): BriefRow[] {
  const firsts = new Map<string, BriefRow>();
  for (const row of rows) {
    const first = firsts.get(row.signature_id);
    if (!first || row.occurred_at < first.occurred_at) firsts.set(row.signature_id, row);
  }
  return [...firsts.values()];
}

/** By the sort key, and then by place. */
async function readPlaces(clickhouse: ClickHouse, rows: readonly BriefRow[], rest = ""): Promise<BeaconEventRow[]> {
  const found: BeaconEventRow[] = [];
  for (let at = 0; at < rows.length; at += AT_ONCE) {
    const part = rows.slice(at, at + AT_ONCE);
    const keys = [...new Set(part.map((row) => `('${row.service_id}','${row.signature_id}','${row.received_at}')`))].join(",");
    const places = part.map(({ partition, offset, index }) => `(${partition},${offset},${index})`).join(",");
    found.push(
      ...(await clickhouse.query<BeaconEventRow>(
        `SELECT * FROM beacon_events WHERE (service_id, signature_id, received_at) IN (${keys})
         AND log_id = ${stringLiteral(part[0]!.log_id)} AND (partition, offset, \`index\`) IN (${places}) ${rest}`,
      )),
    );
  }
  return found;
}

function placeOf({ partition, offset, index }: BriefRow): string {
  return `${partition}/${offset}/${index}`;
}
