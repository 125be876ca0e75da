import type { BriefRow } from "../../domain/errors/brief-rows.ts";
import type { ReadRows } from "../../domain/errors/record.ts";
import { tooManyId } from "../../domain/errors/too-many.ts";
import type { ClickHouse } from "../../platform/clickhouse/port.ts";
import { readRows } from "../../platform/clickhouse/read-row.ts";
import type { EncodedRows } from "../../platform/clickhouse/row-binary.ts";
import { stringLiteral } from "../../platform/clickhouse/tokens.ts";
import type { BeaconEventRow } from "../../schemas/messages/beacon-event-row.ts";
import type { KnownSignatures } from "./known-signatures.ts";

/** The rows that describe new signatures, at hand before the transaction that holds the signatures' locks. */
export interface DescribedRows {
  /** Hears of rows before they are inserted, while their bytes are here: those of new signatures are not asked for again. */
  keepRows(rows: readonly BriefRow[], encoded: EncodedRows): void;
  /** Reads what else describes those signatures of a batch which are not known; they have been looked up. */
  fetchRows(rows: readonly BriefRow[]): Promise<void>;
  /** Gives what is at hand for the batch; what is not is read now. */
  readerOf(rows: readonly BriefRow[]): ReadRows;
}

/** A tuple takes about 150 bytes, and a query 256 KiB at most. */
const AT_ONCE = 1_000;

interface DescribedRowsNeeds {
  clickhouse: ClickHouse;
  known: Pick<KnownSignatures, "isKnownSignature">;
}

/** Without anything kept. */
export function makeDescribedRows({ clickhouse, known }: DescribedRowsNeeds): DescribedRows {
  const fetched = new WeakMap<readonly BriefRow[], Map<string, BeaconEventRow>>();
  /** Of the batch that is being inserted, by place. */
  let kept = new Map<string, BeaconEventRow>();

  const isNew = ({ type, signature_id: id, service_id: service }: BriefRow): boolean => type !== "vital" && !known.isKnownSignature(id) && id !== tooManyId(service);

  return {
    keepRows(rows, encoded) {
      const numbers = describingNumbers(rows, isNew);
      if (numbers.size === 0) return;
      for (const row of readRows(encoded, (number) => numbers.has(number)) as unknown as BeaconEventRow[]) kept.set(placeOf(row), row);
    },
    async fetchRows(rows) {
      const wanted = rows.filter(isNew);
      const mine = kept;
      kept = new Map();
      if (wanted.length === 0) return;
      fetched.set(rows, new Map((await describing(wanted, mine, clickhouse)).map((row) => [placeOf(row), row])));
    },
    readerOf(rows) {
      const found = fetched.get(rows) ?? new Map<string, BeaconEventRow>();
      return async (wanted) => {
        const ids = new Set([...found.values()].map(({ signature_id: id }) => id));
        const missing = wanted.filter(({ signature_id: id }) => !ids.has(id));
        return [...found.values(), ...(missing.length > 0 ? await describing(missing, new Map(), clickhouse) : [])];
      };
    },
  };
}

/** The numbers of the rows that came first and that happened first of each new signature: the former has its details, as a rule. */
function describingNumbers(rows: readonly BriefRow[], isNew: (row: BriefRow) => boolean): Set<number> {
  const numbers = new Set<number>();
  const firsts = new Map<string, number>();
  for (const [number, row] of rows.entries()) {
    if (!isNew(row)) continue;
    const first = firsts.get(row.signature_id);
    if (first === undefined) numbers.add(number);
    if (first === undefined || row.occurred_at < rows[first]!.occurred_at) firsts.set(row.signature_id, number);
  }
  for (const number of firsts.values()) numbers.add(number);
  return numbers;
}

/** The first row of each signature and, where that has no details, the first one that has. What is not among `kept` is read. */
async function describing(rows: readonly BriefRow[], kept: ReadonlyMap<string, BeaconEventRow>, clickhouse: ClickHouse): Promise<BeaconEventRow[]> {
  const wanted = firstRows(rows);
  const missing = wanted.filter((row) => !kept.has(placeOf(row)));
  const firsts = [...wanted.flatMap((row) => kept.get(placeOf(row)) ?? []), ...(missing.length > 0 ? await readPlaces(clickhouse, missing) : [])];
  const bare = new Set(firsts.flatMap(({ detailed, signature_id: id }) => (detailed ? [] : [id])));
  if (bare.size === 0) return firsts;
  const ofBare = rows.filter(({ signature_id: id }) => bare.has(id));
  const detailed = firstRows(ofBare.flatMap((row) => kept.get(placeOf(row)) ?? []).filter((row) => row.detailed));
  const found = new Set(detailed.map(({ signature_id: id }) => id));
  const left = ofBare.filter(({ signature_id: id }) => !found.has(id));
  return [...firsts, ...detailed, ...(left.length > 0 ? await readPlaces(clickhouse, left, "AND detailed ORDER BY occurred_at LIMIT 1 BY signature_id") : [])];
}

function firstRows<Row extends BriefRow>(rows: readonly Row[]): Row[] {
  const firsts = new Map<string, Row>();
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
