import type { BriefRow } from "../../domain/errors/brief-rows.ts";
import type { ReadRows } from "../../domain/errors/record.ts";
import { tooManyId } from "../../domain/errors/too-many.ts";
import type { ClickHouse } from "../../platform/clickhouse/port.ts";
import { stringLiteral } from "../../platform/clickhouse/tokens.ts";
import type { BeaconEventRow } from "../../schemas/messages/beacon-event-row.ts";
import type { KnownSignatures } from "./known-signatures.ts";

/** The rows that describe new signatures, read from ClickHouse before the transaction that holds the signatures' locks. */
export interface DescribedRows {
  /** Reads the rows that describe those signatures of a batch which are not known; they have been looked up. */
  fetchRows(rows: readonly BriefRow[]): Promise<void>;
  /** Gives what was fetched for the batch; what was not is read now. */
  readerOf(rows: readonly BriefRow[]): ReadRows;
}

/** A tuple takes about 150 bytes, and a query 256 KiB at most. */
const AT_ONCE = 1_000;

interface DescribedRowsNeeds {
  clickhouse: ClickHouse;
  known: Pick<KnownSignatures, "isKnownSignature">;
}

/** Without anything fetched. */
export function makeDescribedRows({ clickhouse, known }: DescribedRowsNeeds): DescribedRows {
  const fetched = new WeakMap<readonly BriefRow[], Map<string, BeaconEventRow>>();

  return {
    async fetchRows(rows) {
      const wanted = rows.filter(({ type, signature_id: id, service_id: service }) => type !== "vital" && !known.isKnownSignature(id) && id !== tooManyId(service));
      if (wanted.length === 0) return;
      fetched.set(rows, new Map((await readDescribing(clickhouse, wanted)).map((row) => [placeOf(row), row])));
    },
    readerOf(rows) {
      const found = fetched.get(rows) ?? new Map<string, BeaconEventRow>();
      return async (wanted) => {
        const ids = new Set([...found.values()].map(({ signature_id: id }) => id));
        const missing = wanted.filter(({ signature_id: id }) => !ids.has(id));
        return [...found.values(), ...(missing.length > 0 ? await readDescribing(clickhouse, missing) : [])];
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
