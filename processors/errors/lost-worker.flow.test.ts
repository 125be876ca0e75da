import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { replayAllDeadLetters, replayDeadLetter } from "../../domain/dead-letters/replay-dead-letters.ts";
import { createOrganization } from "../../domain/organizations/create.ts";
import { systemClock } from "../../platform/clock.ts";
import { openEmbeddedLog } from "../../platform/event-log/embedded.ts";
import { encodeFrame } from "../../platform/event-log/frame.ts";
import type { EventLog } from "../../platform/event-log/port.ts";
import { newId } from "../../platform/ids.ts";
import { makeLog } from "../../platform/log.ts";
import { makeMetrics } from "../../platform/metrics.ts";
import { moduleFile } from "../../platform/root.ts";
import { startWorkerPool } from "../../platform/worker-pool.ts";
import { deadLetters } from "../../schemas/tables/all.ts";
import { freshClickHouse } from "../../testing/clickhouse.ts";
import { freshDatabase } from "../../testing/postgres.ts";
import { startErrorConsumer, type ErrorRowsPool } from "./consume.ts";

const log = makeLog(process.env.PHAROS_TEST_LOG ?? "silent");
let folder: string;
let postgres: Awaited<ReturnType<typeof freshDatabase>>;
let clickhouse: Awaited<ReturnType<typeof freshClickHouse>>;
let tenant: { organizationId: string; serviceId: string };
let eventLog: EventLog;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "pharos-lost-"));
  postgres = await freshDatabase();
  clickhouse = await freshClickHouse();
  tenant = await createOrganization(postgres.database, { name: "Lost", plan: "team" });
  eventLog = await openEmbeddedLog({ folder, partitions: 1, retentionBytes: 1e9, retentionMs: 1e9, clock: systemClock, log });
});
afterAll(async () => {
  await eventLog.close();
  await postgres.drop();
  await clickhouse.drop();
  await rm(folder, { recursive: true, force: true });
});

const entry = (message: string) => ({
  requestNumber: 1,
  receivedAt: Date.now(),
  detached: false,
  organizationId: tenant.organizationId,
  subjectId: tenant.serviceId,
  body: Buffer.from(JSON.stringify({ key: "bpk_", session_id: "s", events: [{ type: "error", error_type: "Error", message }] })),
});

async function counts(): Promise<Record<string, number>> {
  const rows = await clickhouse.clickhouse.query<{ message: string; rows: string }>("SELECT message, count() AS rows FROM beacon_events GROUP BY message");
  return Object.fromEntries(rows.map(({ message, rows: count }) => [message, Number(count)]));
}

async function startConsumer(worker: string) {
  const pool: ErrorRowsPool = startWorkerPool({ file: moduleFile(worker, import.meta.url), name: "rowsOfRecords", threads: 2, deadlineMs: 5_000 });
  const consumer = await startErrorConsumer({ eventLog, database: postgres.database, clickhouse: clickhouse.clickhouse, clock: systemClock, log, metrics: makeMetrics(), pool });
  return {
    /** Resolves once the log is read to its end, then stops. */
    async finish() {
      const [end] = await eventLog.ends("beacons");
      await vi.waitFor(
        async () => {
          const { rows } = await postgres.database.$client.query<{ next_offset: string }>("select next_offset from cursors where topic = 'beacons' and consumer_group = 'errors'");
          expect(BigInt(rows[0]!.next_offset)).toBe(end);
        },
        { timeout: 90_000, interval: 100 },
      );
      await consumer.stop();
      await pool.close();
    },
  };
}

test("entries that hang or kill their thread become dead letters alone, their neighbours count once, and replayed they count once", async () => {
  const edgeId = newId();
  const frames = [["plain", "plain"], ["plain", "hang this thread", "plain"], ["kill this thread", "plain"], ["plain"]];
  for (const [index, messages] of frames.entries()) await eventLog.append("beacons", 0, encodeFrame({ edgeId, sequence: BigInt(index + 1) }, messages.map(entry)));

  await (await startConsumer("./lost-worker.child.ts")).finish();
  expect(await counts()).toEqual({ plain: 6 });
  const letters = await postgres.database.select().from(deadLetters).orderBy(deadLetters.offset);
  const known = { consumerGroup: "errors", logId: eventLog.id, topic: "beacons", partition: 0, state: "open", replays: 0 };
  expect(letters).toMatchObject([{ ...known, offset: 1n, entry: 1, reason: expect.stringContaining("busy for 5000 ms") as string }, { ...known, offset: 2n, entry: 0, reason: expect.stringContaining("its worker thread died") as string }]);

  const stores = { database: postgres.database, eventLog };
  const once = { again: false, now: Date.now() };
  const counted = { replayed: 0, "replayed before": 0, "discarded before": 0, "rows stand": 0, unreadable: 0 };
  expect(await replayDeadLetter(stores, letters[0]!, once)).toBe("replayed");
  // One that died before it noted the replay does it again.
  expect(await replayDeadLetter(stores, letters[0]!, once)).toBe("replayed");
  expect(await replayAllDeadLetters(stores, { ...once, filter: {} })).toEqual({ ...counted, replayed: 1, "replayed before": 1 });
  await (await startConsumer("./worker.ts")).finish();
  expect(await counts()).toEqual({ plain: 6, "hang this thread": 1, "kill this thread": 1 });

  expect(await replayAllDeadLetters(stores, { ...once, filter: {} })).toEqual({ ...counted, "replayed before": 2 });
  expect(await replayAllDeadLetters(stores, { ...once, filter: { topic: "metrics" }, again: true })).toEqual(counted);
  expect(await replayAllDeadLetters(stores, { ...once, filter: { topic: "beacons" }, again: true })).toEqual({ ...counted, replayed: 2 });
  await (await startConsumer("./worker.ts")).finish();
  expect(await counts()).toEqual({ plain: 6, "hang this thread": 2, "kill this thread": 2 });
});
