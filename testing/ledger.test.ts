import { expect, test } from "vitest";
import { rowsOfBody } from "../domain/errors/rows-of-body.ts";
import { newId } from "../platform/ids.ts";
import { freshClickHouse } from "./clickhouse.ts";
import { makeLedger, type Ledger } from "./ledger.ts";

function rowsOf(ledger: Ledger, numbers: number[], offset: bigint): object[] {
  const events = numbers.map((number) => ({ type: "message", message: ledger.name, url: ledger.markOf(number) }));
  const entry = { body: Buffer.from(JSON.stringify({ key: "bpk", events })), receivedAt: Date.now(), organizationId: newId(), serviceId: newId() };
  return rowsOfBody(entry, { logId: newId(), partition: 0, offset, edgeId: newId(), sequence: 1n, entryIndex: 0, firstIndex: 0 });
}

test("what was acked and is not stored is lost, what is stored twice is doubled, what was refused may be stored", async () => {
  const { clickhouse, drop } = await freshClickHouse();
  const ledger = makeLedger("one load");
  const beside = makeLedger("one load, another time");
  // More than a page, and more than the ledger begins with.
  expect([ledger.take(150_000), ledger.take(10)]).toEqual([0, 150_000]);
  ledger.settle(0, 4, "acked");
  ledger.settle(4, 1, "refused");
  ledger.settle(5, 2, "unanswered");
  ledger.settle(150_000, 10, "acked");
  await clickhouse.insert("beacon_events", rowsOf(ledger, [0, 1, 3, 4, 5], 1n), {});
  await clickhouse.insert("beacon_events", rowsOf(ledger, [3, 5, 150_000, 150_009], 2n), {});
  await clickhouse.insert("beacon_events", rowsOf(ledger, [3], 3n), {});
  await clickhouse.insert("beacon_events", rowsOf(beside, [2, 0], 4n), {});
  expect([ledger.count("acked"), ledger.count("refused"), ledger.count("unanswered")]).toEqual([14, 1, 2]);
  // Lost are 2 and 150,001 to 150,008; 3 stands three times, 5 twice.
  expect(await ledger.judge(clickhouse)).toEqual({ acked: 14, stored: 7, lost: 9, doubled: 3, refusedYetStored: 1 });
  await drop();
});
