import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeAll, beforeEach, expect, test, vi } from "vitest";
import { createOrganization } from "../../domain/organizations/create.ts";
import { systemClock } from "../../platform/clock.ts";
import type { ClickHouse } from "../../platform/clickhouse/port.ts";
import { openEmbeddedLog } from "../../platform/event-log/embedded.ts";
import { encodeFrame } from "../../platform/event-log/frame.ts";
import type { EventLog } from "../../platform/event-log/port.ts";
import { makeLog } from "../../platform/log.ts";
import { makeMetrics } from "../../platform/metrics.ts";
import type { Database } from "../../platform/postgres/database.ts";
import { moduleFile, PROJECT_ROOT } from "../../platform/root.ts";
import { startWorkerPool } from "../../platform/worker-pool.ts";
import { deadLetters, errorSignatures, events } from "../../schemas/tables/all.ts";
import { freshClickHouse } from "../../testing/clickhouse.ts";
import { freshDatabase } from "../../testing/postgres.ts";
import { buildService } from "../../testing/service-process.ts";
import type { BatchStep } from "../consume/batch-consumer.ts";
import { startErrorConsumer, type ErrorRowsPool } from "./consume.ts";

const log = makeLog(process.env.PHAROS_TEST_LOG ?? "silent");
const MESSAGES = ["alpha", "beta", "gamma"] as const;

let folder: string;
let postgres: Awaited<ReturnType<typeof freshDatabase>>;
let clickhouse: Awaited<ReturnType<typeof freshClickHouse>>;
let tenant: { organizationId: string; serviceId: string };

beforeAll(() => buildService());
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "pharos-once-"));
  postgres = await freshDatabase();
  clickhouse = await freshClickHouse();
  tenant = await createOrganization(postgres.database, { name: "Once", plan: "team" });
});
afterEach(async () => {
  await postgres.drop();
  await clickhouse.drop();
  await rm(folder, { recursive: true, force: true });
});

const openLog = () => openEmbeddedLog({ folder, partitions: 2, retentionBytes: 1e9, retentionMs: 1e9, clock: systemClock, log });

/** An edge's frames; each entry is a request with three events, one of each message. */
function makeFrames(edgeId: string, count: number, entriesEach: number): Buffer[] {
  return Array.from({ length: count }, (_, frame) =>
    encodeFrame(
      { edgeId, sequence: BigInt(frame + 1) },
      Array.from({ length: entriesEach }, (__, entry) => ({
        requestNumber: 0,
        receivedAt: Date.now() - 1_000 + frame,
        detached: true,
        organizationId: tenant.organizationId,
        subjectId: tenant.serviceId,
        body: Buffer.from(
          JSON.stringify({
            key: "bpk_",
            session_id: `session ${entry % 7}`,
            events: MESSAGES.map((message) => ({ type: "error", error_type: "Error", message, ...(message === "beta" && { event_id: randomUUID() }) })),
          }),
        ),
      })),
    ),
  );
}

async function expectCounts(database: Database, store: ClickHouse, requests: number): Promise<void> {
  const signatures = await database.select().from(errorSignatures);
  expect(signatures.map(({ message, occurrences }) => [message, occurrences]).toSorted()).toEqual(MESSAGES.map((message) => [message, requests]));
  const rows = await store.query<{ message: string; rows: string; places: string }>("SELECT message, count() AS rows, uniqExact(log_id, partition, offset, index) AS places FROM beacon_events GROUP BY message ORDER BY message");
  expect(rows.map(({ message, rows: count, places }) => [message, Number(count), Number(places)])).toEqual(MESSAGES.map((message) => [message, requests, requests]));
  const [ids] = await store.query<{ ids: string }>("SELECT count() AS ids FROM seen_event_ids FINAL");
  expect(Number(ids!.ids)).toBe(requests);
  const created = await database.select().from(events);
  expect(created.filter(({ type }) => type === "error.new")).toHaveLength(MESSAGES.length);
}

/** The compiled program: it starts several times faster than the loader can read the sources. */
const CHILD = join(PROJECT_ROOT, "dist/processors/errors/exactly-once.child.js");

function runChild(dieAt: BatchStep | "never"): Promise<number | string> {
  const child = spawn(process.execPath, [CHILD, folder, postgres.url, clickhouse.url, dieAt], { stdio: ["ignore", "inherit", "inherit"] });
  return new Promise((resolve) => child.on("exit", (code, signal) => resolve(signal ?? code ?? -1)));
}

test("a processor that is killed at every step of a takeover and of a batch counts each event once", async () => {
  const eventLog = await openLog();
  const [one, two] = [randomUUID(), randomUUID()];
  const frames = [makeFrames(one, 6, 40), makeFrames(two, 6, 40)];
  for (const [partition, ofEdge] of frames.entries()) {
    for (const frame of ofEdge) {
      await eventLog.append("beacons", partition, frame);
      // A producer that got no answer sends the same frame again.
      await eventLog.append("beacons", partition, frame);
    }
  }
  await eventLog.close();
  for (const step of ["leased", "fenced", "alone", "located", "prepared", "inserted", "fenced", "inserted", "committed", "located"] as const) expect(await runChild(step)).toBe("SIGKILL");
  expect(await runChild("never")).toBe(0);
  await expectCounts(postgres.database, clickhouse.clickhouse, 2 * 6 * 40);
});

test("two owners of one partition count each event once, whichever step the slower one sleeps at", async () => {
  for (const sleepAt of ["prepared", "inserted"] as const) {
    const eventLog = await openLog();
    const pool: ErrorRowsPool = startWorkerPool({ file: moduleFile("./worker.ts", import.meta.url), name: "rowsOfRecords", threads: 2, deadlineMs: 30_000 });
    const needs = { database: postgres.database, clickhouse: clickhouse.clickhouse, clock: systemClock, log, metrics: makeMetrics(), pool };
    const asGroup = (group: string): EventLog => ({ ...eventLog, consume: (options) => eventLog.consume({ ...options, group }) });
    for (const frame of makeFrames(randomUUID(), 3, 10)) await eventLog.append("beacons", 0, frame);

    let wake = () => {};
    let asleep = false;
    const slow = await startErrorConsumer({ ...needs, eventLog: asGroup("slow") }, async (step) => {
      if (step !== sleepAt || asleep) return;
      asleep = true;
      await new Promise<void>((resolve) => (wake = resolve));
    });
    await vi.waitUntil(() => asleep, { timeout: 60_000 });
    const fast = await startErrorConsumer({ ...needs, eventLog: asGroup("fast") });
    const end = (await eventLog.ends("beacons"))[0]!;
    await vi.waitFor(async () => expect(await cursorAt(postgres.database)).toBe(end), 60_000);
    wake();
    for (const frame of makeFrames(randomUUID(), 3, 10)) await eventLog.append("beacons", 0, frame);
    const newEnd = (await eventLog.ends("beacons"))[0]!;
    await vi.waitFor(async () => expect(await cursorAt(postgres.database)).toBe(newEnd), 60_000);
    await Promise.all([slow.stop(), fast.stop()]);
    await pool.close();
    await eventLog.close();
  }
  await expectCounts(postgres.database, clickhouse.clickhouse, 2 * 2 * 3 * 10);
});

async function cursorAt(database: Database): Promise<bigint | undefined> {
  const { rows } = await database.$client.query<{ next_offset: string }>("select next_offset from cursors where partition = 0");
  return rows[0] && BigInt(rows[0].next_offset);
}

test("a record that is no frame becomes a dead letter and its neighbours are counted", async () => {
  const eventLog = await openLog();
  const pool: ErrorRowsPool = startWorkerPool({ file: moduleFile("./worker.ts", import.meta.url), name: "rowsOfRecords", threads: 1, deadlineMs: 30_000 });
  const [first, second] = makeFrames(randomUUID(), 2, 5);
  const cut = makeFrames(randomUUID(), 1, 5)[0]!.subarray(0, 300);
  for (const record of [first!, Buffer.from("no frame at all, but bytes enough for the head of one"), cut, second!]) await eventLog.append("beacons", 0, record);
  const consumer = await startErrorConsumer({ database: postgres.database, clickhouse: clickhouse.clickhouse, clock: systemClock, log, metrics: makeMetrics(), pool, eventLog });
  await vi.waitFor(async () => expect(await cursorAt(postgres.database)).toBe(4n), 60_000);
  await consumer.stop();
  expect((await postgres.database.select().from(deadLetters).orderBy(deadLetters.offset)).map(({ offset, entry }) => [offset, entry])).toEqual([[1n, -1], [2n, -1]]);
  await expectCounts(postgres.database, clickhouse.clickhouse, 10);
  await pool.close();
  await eventLog.close();
});

/** All tables as they are now; what it gives puts them back, as a restore from a backup does. */
async function copyTables({ $client }: Database): Promise<() => Promise<void>> {
  const { rows } = await $client.query<{ name: string; columns: string }>(
    `select table_name as name, string_agg(quote_ident(column_name), ', ') as columns from information_schema.columns
     join information_schema.tables using (table_schema, table_name)
     where table_schema = 'public' and table_type = 'BASE TABLE' and is_generated = 'NEVER' group by table_name`,
  );
  await $client.query("create schema backup");
  for (const { name, columns } of rows) await $client.query(`create table backup."${name}" as select ${columns} from public."${name}"`);
  return async () => {
    const client = await $client.connect();
    try {
      await client.query("begin");
      await client.query("set local session_replication_role = replica");
      for (const { name } of rows) await client.query(`delete from public."${name}"`);
      for (const { name, columns } of rows) await client.query(`insert into public."${name}" (${columns}) overriding system value select ${columns} from backup."${name}"`);
      await client.query("commit");
    } finally {
      client.release();
    }
  };
}

test("a PostgreSQL that was restored counts what stands once, and what stands is not inserted again", async () => {
  const [one, two] = [randomUUID(), randomUUID()];
  const append = async (frames: [number, Buffer[]][]) => {
    const eventLog = await openLog();
    for (const [partition, ofEdge] of frames) for (const frame of ofEdge) await eventLog.append("beacons", partition, frame);
    await eventLog.close();
  };
  const frames = [makeFrames(one, 8, 20), makeFrames(two, 8, 20)] as const;
  await append([[0, frames[0].slice(0, 2)], [1, frames[1].slice(0, 2)]]);
  expect(await runChild("never")).toBe(0);
  const restore = await copyTables(postgres.database);

  await append([[0, frames[0].slice(2, 5)], [1, frames[1].slice(2, 5)]]);
  expect(await runChild("never")).toBe(0);
  await restore();
  // Once by a process that dies before it has counted what stands, then to the end.
  expect(await runChild("inserted")).toBe("SIGKILL");
  await append([[0, frames[0].slice(5)], [1, frames[1].slice(5)]]);
  expect(await runChild("never")).toBe(0);
  await expectCounts(postgres.database, clickhouse.clickhouse, 2 * 8 * 20);

  // Nothing new comes: a restore is noticed all the same.
  await restore();
  expect(await runChild("never")).toBe(0);
  await expectCounts(postgres.database, clickhouse.clickhouse, 2 * 8 * 20);
});
