import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { BriefRow } from "../../../domain/errors/brief-rows.ts";
import type { ClickHouse } from "../../../platform/clickhouse/port.ts";
import { makeLog } from "../../../platform/log.ts";
import { freshClickHouse } from "../../../testing/clickhouse.ts";
import { hashGivenIds } from "./id-hash.ts";
import { makeSeenEvents, type SeenEvents } from "./seen-events.ts";

const MINUTE = 60_000;
const log = makeLog(process.env.PHAROS_TEST_LOG ?? "silent");

let fresh: Awaited<ReturnType<typeof freshClickHouse>>;
let clickhouse: ClickHouse;
let logId: string;
let offset = 0;
const organization = randomUUID();
const service = randomUUID();
const now = Date.now();

beforeAll(async () => {
  fresh = await freshClickHouse();
  ({ clickhouse } = fresh);
});
afterAll(() => fresh.drop());
beforeEach(() => {
  logId = randomUUID();
});

/** A row as the worker makes it; `ago` is how long ago it was received. */
function rowOf({ ago = 0, ...given }: Partial<BriefRow> & { ago?: number } = {}): BriefRow {
  const moment = new Date(now - ago).toISOString().slice(0, -1).replace("T", " ");
  return {
    log_id: logId, partition: 0, offset: String(offset++), index: 0, organization_id: organization, service_id: service, signature_id: randomUUID(),
    event_id: randomUUID(), event_id_given: true, type: "error", received_at: moment, occurred_at: moment, release: "", environment: "", ...given,
  };
}

const insert = (rows: BriefRow[]): Promise<void> => clickhouse.insert("beacon_events", rows, {});

/** Counts the questions that go to ClickHouse, warming apart. */
interface Watched {
  seen: SeenEvents;
  lookUps(): number;
}

async function start(partitions = [0], elsewhereToo = (_id: string): boolean => false): Promise<Watched> {
  const watched = await startCold(clickhouse, elsewhereToo);
  watched.seen.assign(logId, partitions.map((partition) => ({ partition, kept: false })));
  await watched.seen.warm();
  return watched;
}

async function startCold(through: ClickHouse, elsewhereToo = (_id: string): boolean => false): Promise<Watched> {
  let lookUps = 0;
  const watching: ClickHouse = {
    ...through,
    query: (sql, params, options) => {
      if (sql.includes("arrayZip")) lookUps += 1;
      return through.query(sql, params, options);
    },
  };
  return { seen: makeSeenEvents({ clickhouse: watching, log, now: () => now, readElsewhere: async () => elsewhereToo }), lookUps: () => lookUps };
}

describe("the hash", () => {
  test("is the same here and in ClickHouse, whatever the ids' case", async () => {
    const rows = Array.from({ length: 6_000 }, (_, index) => rowOf({ index, service_id: index % 5 === 0 ? randomUUID() : service }));
    await insert(rows.map((row, index) => (index % 2 === 0 ? row : { ...row, event_id: row.event_id.toUpperCase(), service_id: row.service_id.toUpperCase() })));
    const found = await clickhouse.query<{ index: number; id_hash: string }>("SELECT index, id_hash FROM seen_event_ids WHERE log_id = {log:String} ORDER BY index", { log: logId });
    for (const ids of [rows, rows.map((row) => ({ ...row, event_id: row.event_id.toUpperCase(), service_id: row.service_id.toUpperCase() }))]) {
      const hashes = hashGivenIds(ids);
      const ours = rows.map((_row, at) => String((BigInt(hashes[2 * at + 1]!) << 32n) | BigInt(hashes[2 * at]!)));
      expect(found.map(({ id_hash: hash }) => hash)).toEqual(ours);
    }
  });
});

describe("one batch", () => {
  test("keeps rows without an id, new ids, and the first of several, without asking", async () => {
    const { seen, lookUps } = await start();
    const first = rowOf();
    const rows = [rowOf({ event_id_given: false }), first, rowOf({ event_id: first.event_id }), rowOf()];
    expect(await seen.withoutSeen(rows, [])).toEqual([rows[0], rows[1], rows[3]]);
    expect(lookUps()).toBe(0);
  });

  test("drops what stands in the same batch, even where it comes later", async () => {
    const { seen } = await start();
    const standing = rowOf({ partition: 1 });
    const [repeated, hoursBefore] = [rowOf({ event_id: standing.event_id }), rowOf({ event_id: standing.event_id, ago: 61 * MINUTE })];
    expect(await seen.withoutSeen([repeated, hoursBefore], [standing])).toEqual([hoursBefore]);
  });
});

describe("ids that stand in ClickHouse", () => {
  test("are dropped within the hour and its service, found after a takeover by the warm filter alone", async () => {
    const before = rowOf({ ago: 50 * MINUTE });
    const old = rowOf({ ago: 65 * MINUTE });
    await insert([before, old]);
    const { seen, lookUps } = await start();
    expect(seen.size().ids).toBe(2);
    const rows = [rowOf({ event_id: before.event_id }), rowOf({ event_id: old.event_id }), rowOf({ event_id: before.event_id, service_id: randomUUID() }), rowOf()];
    expect(await seen.withoutSeen(rows, [])).toEqual(rows.slice(1));
    expect(lookUps()).toBe(2);
  });

  test("are dropped by a cold filter too", async () => {
    const before = rowOf();
    await insert([before]);
    const { seen } = await startCold(clickhouse);
    const rows = [rowOf({ event_id: before.event_id }), rowOf()];
    expect(await seen.withoutSeen(rows, [])).toEqual([rows[1]]);
  });

  test("in another log count for organizations that may have sent there", async () => {
    const there = rowOf({ log_id: `${logId}/overflow`, partition: 3 });
    await insert([there]);
    const known = await start([0]);
    const rows = () => [rowOf({ event_id: there.event_id }), rowOf()];
    expect(await known.seen.withoutSeen(rows(), [])).toHaveLength(2);
    const { seen } = await start([0], (id) => id === organization);
    const asked = rows();
    expect(await seen.withoutSeen(asked, [])).toEqual([asked[1]]);
  });

  test("do not count when only the view's row stands", async () => {
    const lost = rowOf();
    await insert([lost]);
    await clickhouse.command("ALTER TABLE beacon_events DELETE WHERE log_id = {log:String} SETTINGS mutations_sync = 1", { log: logId });
    const { seen, lookUps } = await start();
    const again = rowOf({ event_id: lost.event_id });
    expect(await seen.withoutSeen([again], [])).toEqual([again]);
    expect(lookUps()).toBe(2);
  });

  test("of too old rows are looked up, and take no memory", async () => {
    const old = rowOf({ ago: 200 * MINUTE });
    await insert([old, rowOf()]);
    const { seen } = await start();
    const { ids } = seen.size();
    const rows = [rowOf({ event_id: old.event_id, ago: 190 * MINUTE }), rowOf({ ago: 190 * MINUTE })];
    expect(await seen.withoutSeen(rows, [])).toEqual([rows[1]]);
    expect(seen.size().ids).toBe(ids);
  });

  test("are found while the processor's clock is behind the edge's", async () => {
    const ahead = rowOf({ ago: -90 * MINUTE });
    await insert([ahead]);
    for (const { seen } of [await start(), await startCold(clickhouse)]) expect(await seen.withoutSeen([rowOf({ event_id: ahead.event_id, ago: -80 * MINUTE })], [])).toEqual([]);
  });
});

test("the same batch once more keeps the same rows, whatever of it stands and whoever says so", async () => {
  const earlier = rowOf({ ago: 10 * MINUTE });
  await insert([earlier]);
  const first = rowOf();
  const batch = [first, rowOf({ event_id: first.event_id }), rowOf({ event_id: earlier.event_id }), rowOf(), rowOf({ partition: 1 })];
  const counted = [first, batch[3]!, batch[4]!];
  const { seen } = await start([0, 1]);
  expect(await seen.withoutSeen(batch, [])).toEqual(counted);
  // The insert failed.
  expect(await seen.withoutSeen(batch, [])).toEqual(counted);
  // Some of it came through, and the caller does not know.
  await insert([first, batch[4]!]);
  expect(await seen.withoutSeen(batch, [])).toEqual(counted);
  // The next owner knows.
  const next = await start([0, 1]);
  expect(await next.seen.withoutSeen(batch.filter((row) => row !== first && row !== batch[4]), [first, batch[4]!])).toEqual([batch[3]]);
});

test("kept partitions keep their filters, others warm anew, and those not named are forgotten", async () => {
  const { seen, lookUps } = await start([0, 1, 2]);
  const rows = [rowOf(), rowOf({ partition: 1 }), rowOf({ partition: 2 })];
  await seen.withoutSeen(rows, []);
  expect(seen.size().ids).toBe(3);
  seen.assign(logId, [{ partition: 0, kept: true }, { partition: 1, kept: false }]);
  await seen.warm();
  expect(seen.size().ids).toBe(1);
  await seen.withoutSeen([rowOf(), rowOf({ partition: 1 })], []);
  expect(lookUps()).toBe(0);
  await seen.withoutSeen([rowOf({ partition: 2 })], []);
  expect(lookUps()).toBe(1);
});

test("while ClickHouse cannot say what it holds, ids are looked up, and the filter warms later", async () => {
  await insert([rowOf()]);
  let away = true;
  const broken: ClickHouse = { ...clickhouse, stream: (sql, params) => (away ? failing() : clickhouse.stream(sql, params)) };
  const { seen, lookUps } = await startCold(broken);
  seen.assign(logId, [{ partition: 0, kept: false }]);
  await seen.withoutSeen([rowOf()], []);
  expect(lookUps()).toBe(1);
  away = false;
  await seen.warm();
  await seen.withoutSeen([rowOf()], []);
  expect(lookUps()).toBe(1);
});

// oxlint-disable-next-line require-yield
async function* failing(): AsyncIterable<Uint8Array> {
  throw new Error("ClickHouse is away");
}
