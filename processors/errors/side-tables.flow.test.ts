import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { ClickHouse } from "../../platform/clickhouse/port.ts";
import { newId } from "../../platform/ids.ts";
import { freshClickHouse } from "../../testing/clickhouse.ts";
import { logOfRows, type ConsumerName } from "../consume/cursor-name.ts";
import { makeRowStore } from "../consume/row-store.ts";
import { BEACON_SIDE_TABLES } from "./side-tables.ts";

let fresh: Awaited<ReturnType<typeof freshClickHouse>>;
let clickhouse: ClickHouse;

beforeAll(async () => {
  fresh = await freshClickHouse();
  ({ clickhouse } = fresh);
});
afterAll(() => fresh.drop());

const ORGANIZATION = "00000000-0000-4000-8000-000000000001";
const SERVICE = "00000000-0000-4000-8000-000000000002";
const BEACONS = {
  table: "beacon_events",
  sortKey: "service_id, signature_id, received_at",
  sideTables: BEACON_SIDE_TABLES,
};

interface Place {
  partition: number;
  offset: number;
  index: number;
}

function placesOf(partition: number, offsets: readonly number[], rowsEach: number): Place[] {
  return offsets.flatMap((offset) =>
    Array.from({ length: rowsEach }, (_each, index) => ({ partition, offset, index })),
  );
}

/** Events with a session and an id of the client's each; one in five is a vital. */
function eventsAt(name: ConsumerName, places: readonly Place[], receivedAt: Date): object[] {
  return places.map(({ partition, offset, index }) => ({
    log_id: logOfRows(name),
    partition,
    offset: String(offset),
    index,
    organization_id: ORGANIZATION,
    service_id: SERVICE,
    signature_id: `00000000-0000-4000-8000-00000000000${index % 4}`,
    event_id: newId(),
    event_id_given: index % 2 === 0,
    type: index % 5 === 4 ? "vital" : "error",
    received_at: receivedAt,
    occurred_at: receivedAt,
    session_id: `session ${(offset + index) % 7}`,
    message: "m",
  }));
}

describe("tables behind views", () => {
  const name: ConsumerName = { group: "tested", logId: newId(), topic: "beacons" };
  const places = [...placesOf(0, [1, 2, 3], 10), ...placesOf(1, [8], 10)];
  const ranges = [{ partition: 0, first: 1n, last: 3n }, { partition: 1, first: 8n, last: 8n }];

  /** What queries see of both tables, and what follows from the rows. */
  async function readSideTables(): Promise<{ slots: object[]; ids: object[] }> {
    const slots = await clickhouse.query<object>(
      "SELECT slot, signature_id, toString(uniqExactMerge(sessions)) AS sessions FROM signature_slots GROUP BY slot, signature_id ORDER BY signature_id",
    );
    const ids = await clickhouse.query<object>(
      "SELECT partition, offset, `index`, event_id FROM seen_event_ids FINAL ORDER BY partition, offset, `index`",
    );
    return { slots, ids };
  }

  async function readDerived(): Promise<{ slots: object[]; ids: object[] }> {
    const slots = await clickhouse.query<object>(
      `SELECT toStartOfInterval(received_at, INTERVAL 6 HOUR) AS slot, signature_id, toString(uniqExact(session_id)) AS sessions
       FROM beacon_events WHERE type != 'vital' GROUP BY slot, signature_id ORDER BY signature_id`,
    );
    const ids = await clickhouse.query<object>(
      "SELECT partition, offset, `index`, event_id FROM beacon_events WHERE event_id_given ORDER BY partition, offset, `index`",
    );
    return { slots, ids };
  }

  test("are completed where the views were not reached; repetition changes nothing", async () => {
    const store = makeRowStore({ clickhouse, name, ...BEACONS });
    const texts = await Promise.all(
      BEACON_SIDE_TABLES.map(async ({ view }) => {
        const [row] = await clickhouse.query<{ text: string }>(
          "SELECT create_table_query AS text FROM system.tables WHERE database = currentDatabase() AND name = {view:String}",
          { view },
        );
        await clickhouse.command(`DROP VIEW ${view} SYNC`);
        return row!.text;
      }),
    );
    const rows = eventsAt(name, places, new Date());
    await clickhouse.insert("beacon_events", rows.slice(0, 25), {});
    for (const text of texts) await clickhouse.command(text);
    expect(await readSideTables()).toEqual({ slots: [], ids: [] });
    // The rest is inserted with its views, and completed once more.
    await clickhouse.insert("beacon_events", rows.slice(25), {});

    const derived = await readDerived();
    expect(derived.ids).toHaveLength(20);
    for (let time = 0; time < 3; time++) {
      await store.completeSideTables(ranges);
      expect(await readSideTables()).toEqual(derived);
    }
    await clickhouse.command("OPTIMIZE TABLE signature_slots FINAL");
    await clickhouse.command("OPTIMIZE TABLE seen_event_ids FINAL");
    expect(await readSideTables()).toEqual(derived);
  });

  test("only rows of the ranges are completed", async () => {
    await clickhouse.command("TRUNCATE TABLE seen_event_ids");
    await makeRowStore({ clickhouse, name, ...BEACONS }).completeSideTables([ranges[1]!]);
    const { ids } = await readSideTables();
    expect(ids.map((row) => (row as { partition: number }).partition)).toEqual([1, 1, 1, 1, 1]);
  });
});
