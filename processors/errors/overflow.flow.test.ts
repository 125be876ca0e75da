import { randomUUID } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sql } from "drizzle-orm";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { announceFlood } from "../../domain/floods/announce.ts";
import { replayDeadLetter } from "../../domain/dead-letters/replay-dead-letters.ts";
import { listOccurrences } from "../../domain/errors/list-occurrences.ts";
import { createOrganization } from "../../domain/organizations/create.ts";
import { systemClock } from "../../platform/clock.ts";
import { openEmbeddedLog } from "../../platform/event-log/embedded.ts";
import { encodeFrame } from "../../platform/event-log/frame.ts";
import type { Consumer, EventLog } from "../../platform/event-log/port.ts";
import { makeLog } from "../../platform/log.ts";
import { makeMetrics } from "../../platform/metrics.ts";
import { moduleFile } from "../../platform/root.ts";
import { startWorkerPool } from "../../platform/worker-pool.ts";
import { cursors, deadLetters, errorSignatures } from "../../schemas/tables/all.ts";
import type { Topic } from "../../schemas/vocabulary.ts";
import { freshClickHouse } from "../../testing/clickhouse.ts";
import { freshDatabase } from "../../testing/postgres.ts";
import type { BatchStep } from "../consume/batch-consumer.ts";
import { deleteStandingRows } from "../dead-letters/delete-standing-rows.ts";
import { startErrorConsumer, startOverflowConsumer, type ErrorRowsPool } from "./consume.ts";

const log = makeLog(process.env.PHAROS_TEST_LOG ?? "silent");

let folder: string;
let postgres: Awaited<ReturnType<typeof freshDatabase>>;
let clickhouse: Awaited<ReturnType<typeof freshClickHouse>>;
let tenant: { organizationId: string; serviceId: string };
let eventLog: EventLog;
let pool: ErrorRowsPool;
let consumers: Consumer[];
let sequence: bigint;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "pharos-overflow-"));
  postgres = await freshDatabase();
  clickhouse = await freshClickHouse();
  tenant = await createOrganization(postgres.database, { name: "Flood", plan: "team" });
  eventLog = await openEmbeddedLog({ folder, partitions: 1, retentionBytes: 1e9, retentionMs: 1e9, clock: systemClock, log });
  pool = startWorkerPool({ file: moduleFile("./worker.ts", import.meta.url), name: "rowsOfRecords", threads: 1 });
  consumers = [];
  sequence = 0n;
});
afterEach(async () => {
  for (const consumer of consumers) await consumer.stop();
  await pool.close();
  await eventLog.close();
  await postgres.drop();
  await clickhouse.drop();
  await rm(folder, { recursive: true, force: true });
});

const needs = () => ({ eventLog, database: postgres.database, clickhouse: clickhouse.clickhouse, clock: systemClock, log, metrics: makeMetrics(), pool });
const ordinary = async (onStep?: (step: BatchStep) => void) => consumers.push(await startErrorConsumer(needs(), onStep));
const overflow = async (onStep?: (step: BatchStep) => void) => consumers.push(await startOverflowConsumer(needs(), onStep));

const edgeId = randomUUID();

/** One frame with one request of these events. */
async function send(topic: Topic, events: { message: string; event_id?: string }[]): Promise<void> {
  const body = Buffer.from(JSON.stringify({ key: "bpk_", events: events.map((event) => ({ type: "message", ...event })) }));
  const entry = { requestNumber: 0, receivedAt: Date.now(), detached: true, organizationId: tenant.organizationId, subjectId: tenant.serviceId, body };
  await eventLog.append(topic, 0, encodeFrame({ edgeId, sequence: (sequence += 1n) }, [entry]));
}

async function processed(topic: Topic): Promise<void> {
  const [end] = await eventLog.ends(topic);
  await vi.waitFor(
    async () => {
      const rows = await postgres.database.select().from(cursors);
      expect(rows.find((row) => row.topic === topic)?.nextOffset).toBe(end);
    },
    { timeout: 60_000, interval: 20 },
  );
}

async function counts(): Promise<Record<string, number>> {
  const signatures = await postgres.database.select().from(errorSignatures);
  const rows = await clickhouse.clickhouse.query<{ message: string; rows: string }>("SELECT message, count() AS rows FROM beacon_events GROUP BY message");
  const counted = Object.fromEntries(signatures.map(({ message, occurrences }) => [message, occurrences]));
  expect(Object.fromEntries(rows.map(({ message, rows: count }) => [message, Number(count)]))).toEqual(counted);
  return counted;
}

test("a retry counts once although the first try went to the other topic, whichever of them is processed first", async () => {
  await announceFlood(postgres.database, tenant.organizationId, Date.now());
  const [one, two, three] = [randomUUID(), randomUUID(), randomUUID()];
  await ordinary();
  await overflow();

  await send("beacons", [{ message: "there and then here", event_id: one }]);
  await processed("beacons");
  await send("beacons-overflow", [{ message: "there and then here", event_id: one }]);
  await processed("beacons-overflow");

  await send("beacons-overflow", [{ message: "here and then there", event_id: two }]);
  await processed("beacons-overflow");
  await send("beacons", [{ message: "here and then there", event_id: two }]);
  await processed("beacons");
  expect(await counts()).toEqual({ "there and then here": 1, "here and then there": 1 });

  // The flood's own beacons wait in the ordinary topic while its retries are soon done in the other.
  await consumers.shift()!.stop();
  await send("beacons", [{ message: "behind", event_id: three }, { message: "new" }]);
  await send("beacons-overflow", [{ message: "behind", event_id: three }]);
  await processed("beacons-overflow");
  await ordinary();
  await processed("beacons");
  expect(await counts()).toEqual({ "there and then here": 1, "here and then there": 1, behind: 1, new: 1 });
});

test("the same places in both topics are two places, also when a range is done again", async () => {
  for (let n = 0; n < 5; n++) {
    await send("beacons", [{ message: "ordinary" }, { message: "ordinary" }]);
    await send("beacons-overflow", [{ message: "flood" }, { message: "flood" }]);
  }
  const failing = (at: BatchStep) => {
    let left = 2;
    return (step: BatchStep) => {
      if (step === at && left-- > 0) throw new Error("for the test");
    };
  };
  await Promise.all([ordinary(failing("inserted")), overflow(failing("inserted"))]);
  await processed("beacons");
  await processed("beacons-overflow");
  expect(await counts()).toEqual({ ordinary: 10, flood: 10 });
});

test("a spike of one error is counted whole; so many of its events keep their details, and the answer says how many", async () => {
  consumers.push(await startErrorConsumer({ ...needs(), detailsPerMinute: 7 }));
  for (let n = 0; n < 4; n++) await send("beacons", Array.from({ length: 20 }, () => ({ message: "spike" })));
  await processed("beacons");
  expect(await counts()).toEqual({ spike: 80 });
  const [signature] = await postgres.database.select().from(errorSignatures);
  const listed = await listOccurrences({ database: postgres.database, clickhouse: clickhouse.clickhouse }, tenant.organizationId, signature!.id, { limit: 50, offset: 0 });
  // The minute may turn while they are read.
  expect([listed.counted, listed.occurrences.length]).toEqual([80, listed.total]);
  expect([7, 14]).toContain(listed.total);
});

test("an event whose effect Postgres refuses goes to the dead letters, its neighbours are counted, and it can come back", async () => {
  await postgres.database.execute(sql`create function refuse() returns trigger language plpgsql as $$ begin if new.message = 'poison' then raise exception 'poison is refused' using errcode = '22023'; end if; return new; end $$`);
  await postgres.database.execute(sql`create trigger refuse before insert on error_signatures for each row execute function refuse()`);
  const id = randomUUID();
  await send("beacons", [{ message: "before" }]);
  await send("beacons", [{ message: "poison", event_id: id }]);
  await send("beacons", [{ message: "after" }]);
  await ordinary();
  await processed("beacons");
  // Its row stood already, and goes before the letter may come back.
  await deleteStandingRows({ database: postgres.database, clickhouse: clickhouse.clickhouse, log });
  expect(await counts()).toEqual({ before: 1, after: 1 });
  const letters = await postgres.database.select().from(deadLetters);
  expect(letters.map(({ topic, entry, reason }) => [topic, entry, reason])).toEqual([["beacons", 0, "poison is refused"]]);

  await postgres.database.execute(sql`drop trigger refuse on error_signatures`);
  await replayDeadLetter({ database: postgres.database, eventLog }, letters[0]!, { again: false, now: Date.now() });
  await processed("beacons");
  expect(await counts()).toEqual({ before: 1, after: 1, poison: 1 });
});
