import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { rowsOfBody } from "../../domain/errors/rows-of-body.ts";
import type { ClickHouse } from "../../platform/clickhouse/port.ts";
import type { EncodedRows } from "../../platform/clickhouse/row-binary.ts";
import { encodePart } from "../../testing/encode-part.ts";
import { newId } from "../../platform/ids.ts";
import type { BeaconEventRow } from "../../schemas/messages/beacon-event-row.ts";
import { freshClickHouse } from "../../testing/clickhouse.ts";
import { makeDescribedRows } from "./described-rows.ts";

let fresh: Awaited<ReturnType<typeof freshClickHouse>>;
let clickhouse: ClickHouse;

beforeAll(async () => {
  fresh = await freshClickHouse();
  ({ clickhouse } = fresh);
});
afterAll(() => fresh.drop());

const RECEIVED = Date.UTC(2026, 0, 31, 12, 0, 0, 250);

/** Errors of two kinds, a message and a vital, with all that they may have. */
function rowsAt(offset: bigint): BeaconEventRow[] {
  const events = [
    { type: "error", error_type: "TypeError", message: "größer ✗", stack: "TypeError: größer ✗\n    at pay (https://x.io/app.js:3:5)", timestamp: RECEIVED - 500, tags: { plan: "team", "": "x" }, breadcrumbs: [{ a: 1 }], url: "https://x.io/" },
    { type: "error", error_type: "TypeError", message: "größer ✗", stack: "TypeError: größer ✗\n    at pay (https://x.io/app.js:3:5)", timestamp: RECEIVED - 900 },
    { type: "error", message: "Out of stock", causes: [{ error_type: "RangeError", message: "-1", stack: "" }], handled: true },
    { type: "message", message: "hello" },
    { type: "vital", name: "LCP", value: 1234.5 },
  ];
  const entry = { body: Buffer.from(JSON.stringify({ key: "bpk_x", release: "1.2", session_id: "s", events })), receivedAt: RECEIVED, organizationId: newId(), serviceId: newId() };
  return rowsOfBody(entry, { logId: "log", partition: 3, offset, edgeId: newId(), sequence: 9n, entryIndex: 0, firstIndex: 0 });
}

async function encode(rows: BeaconEventRow[]): Promise<EncodedRows> {
  return encodePart(await clickhouse.columnsOf("beacon_events"), rows);
}

const byIndex = (rows: BeaconEventRow[]) => rows.toSorted((left, right) => left.index - right.index);

test("new signatures are described by the bytes of their first rows, as ClickHouse would give them", async () => {
  const query = vi.spyOn(clickhouse, "query");
  const described = makeDescribedRows({ clickhouse, known: { isKnownSignature: () => false } });
  const rows = rowsAt(7n);
  const encoded = await encode(rows);
  described.keepRows(rows, encoded);
  await clickhouse.insertEncoded("beacon_events", encoded, { queryId: newId() });
  await described.fetchRows(rows);
  const found = byIndex(await described.readerOf(rows)(rows.filter(({ type }) => type !== "vital")));
  expect(query).not.toHaveBeenCalled();
  query.mockRestore();

  const stored = await clickhouse.query<BeaconEventRow>("SELECT * FROM beacon_events WHERE offset = 7 ORDER BY `index`");
  // The second error happened before the first.
  expect(found).toEqual(stored.filter(({ index }) => [1, 2, 3].includes(index)));
});

test("what stands already is read, and details are taken from a row that has them", async () => {
  const described = makeDescribedRows({ clickhouse, known: { isKnownSignature: () => false } });
  const [detailed, bare, ...others] = rowsAt(8n);
  Object.assign(bare!, { detailed: false, stack: "", frames: "[]", breadcrumbs: "[]" });
  const standing = others.slice(0, 1);
  await clickhouse.insertEncoded("beacon_events", await encode(standing), { queryId: newId() });
  const inserted = [detailed!, bare!];
  described.keepRows(inserted, await encode(inserted));
  const rows = [...standing, ...inserted];
  await described.fetchRows(rows);
  expect(byIndex(await described.readerOf(rows)(rows)).map(({ index, detailed: whole }) => [index, whole])).toEqual([[0, true], [1, false], [2, true]]);
});
