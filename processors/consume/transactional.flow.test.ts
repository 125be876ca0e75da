import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { and, eq, sql } from "drizzle-orm";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { systemClock, type Clock } from "../../platform/clock.ts";
import { makeDueLooks } from "../../platform/due-looks.ts";
import { openEmbeddedLog } from "../../platform/event-log/embedded.ts";
import { decodeFrame, encodeFrame } from "../../platform/event-log/frame.ts";
import type { EventLog } from "../../platform/event-log/port.ts";
import { newId } from "../../platform/ids.ts";
import { makeLog } from "../../platform/log.ts";
import { makeMetrics } from "../../platform/metrics.ts";
import { cursors, deadLetters } from "../../schemas/tables/all.ts";
import type { Topic } from "../../schemas/vocabulary.ts";
import { freshDatabase } from "../../testing/postgres.ts";
import { startTransactionalConsumer } from "./transactional.ts";

const log = makeLog(process.env.PHAROS_TEST_LOG ?? "silent");
const EDGE = newId();
let folder: string;
let postgres: Awaited<ReturnType<typeof freshDatabase>>;
let eventLog: EventLog;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "pharos-transactional-"));
  postgres = await freshDatabase();
  eventLog = await openEmbeddedLog({ folder, partitions: 1, retentionBytes: 1e9, retentionMs: 1e9, clock: systemClock, log });
});
afterAll(async () => {
  await eventLog.close();
  await postgres.drop();
  await rm(folder, { recursive: true, force: true });
});

test("an entry that always fails goes to the dead-letter topic alone; its neighbours are applied once", async () => {
  const entry = (text: string) => ({ requestNumber: 0, receivedAt: Date.now(), detached: true, organizationId: newId(), subjectId: newId(), body: Buffer.from(text) });
  const edgeId = newId();
  await eventLog.append("metrics", 0, encodeFrame({ edgeId, sequence: 1n }, ["a", "poison", "b"].map(entry)));
  await eventLog.append("metrics", 0, encodeFrame({ edgeId, sequence: 2n }, ["c"].map(entry)));
  const applied: string[] = [];
  const consumer = await startTransactionalConsumer<string[], string[]>(
    { eventLog, database: postgres.database, clock: systemClock, log, metrics: makeMetrics() },
    {
      topic: "metrics",
      group: "test",
      prepare: async (entries) => entries.map(({ entry: { body } }) => Buffer.from(body).toString()),
      apply: async (_transaction, texts) => {
        if (texts.includes("poison")) throw new Error("this entry cannot be applied");
        return texts;
      },
      afterCommit: (texts) => void applied.push(...texts),
    },
  );
  await vi.waitFor(() => expect(applied).toEqual(["a", "b", "c"]), { timeout: 60_000 });
  const letters = await postgres.database.select().from(deadLetters);
  expect(letters.map(({ bytes }) => Buffer.from(decodeFrame(bytes).entries[0]!.body).toString())).toEqual(["poison"]);
  expect(letters[0]).toMatchObject({ consumerGroup: "test", topic: "metrics", partition: 0, offset: 0n, entry: 1, reason: "this entry cannot be applied", state: "open" });
  await consumer.stop();
});

test("what is proven to be processed never lies beyond the clock, also after the clock was put back", async () => {
  const HOUR = 3_600_000;
  let ahead = HOUR;
  const clock: Clock = { now: () => Date.now() + ahead, monotonic: () => performance.now() };
  const edgeId = newId();
  const append = (sequence: bigint, receivedAt: number) => {
    const entry = { requestNumber: 0, receivedAt, detached: true, organizationId: newId(), subjectId: newId(), body: Buffer.from("") };
    return eventLog.append("heartbeats", 0, encodeFrame({ edgeId, sequence }, [entry]));
  };
  /** By how much the proof is ahead of the true time; after each batch. */
  const afterBatches: number[] = [];
  const consumer = await startTransactionalConsumer<number, number>(
    { eventLog, database: postgres.database, clock, log, metrics: makeMetrics() },
    { topic: "heartbeats", group: "clocks", proves: { isNear: () => sql`true`, farMs: 5_000 }, prepare: async (entries) => entries.length, apply: async (_transaction, count) => count, afterCommit: () => void provenAhead().then((ahead) => afterBatches.push(ahead)) },
  );
  const provenAhead = async () => (await postgres.database.select().from(cursors).where(eq(cursors.consumerGroup, "clocks")))[0]!.caughtUpTo!.getTime() - Date.now();
  try {
    await append(1n, Date.now() + HOUR);
    await vi.waitFor(async () => expect(await provenAhead()).toBeGreaterThan(HOUR / 2), { timeout: 60_000 });
    ahead = 0;
    await append(2n, Date.now() + HOUR);
    await vi.waitFor(() => expect(afterBatches).toHaveLength(2), { timeout: 60_000 });
    expect(afterBatches[1]).toBeLessThanOrEqual(0);
    ahead = -HOUR;
    // Without another ping, too.
    await vi.waitFor(async () => expect(await provenAhead()).toBeLessThan(-HOUR / 2), { timeout: 60_000 });
  } finally {
    await consumer.stop();
  }
});

test("an idle topic's proof is written down anew when somebody needs it", async () => {
  let looks = 0;
  const counting = { ...eventLog, ends: (topic: Topic) => (looks++, eventLog.ends(topic)) };
  await postgres.database.execute(sql`create table needed (since timestamptz)`);
  const dueLooks = makeDueLooks({ database: postgres.database, clock: systemClock, log, everyMs: 10 });
  const proves = { isNear: () => sql`exists (select from needed)`, farMs: 600_000 };
  const consumer = await startTransactionalConsumer<number, number>(
    { eventLog: counting, database: postgres.database, clock: systemClock, log, metrics: makeMetrics(), looks: dueLooks },
    { topic: "beacons", group: "needed", proves, prepare: async (entries) => entries.length, apply: async (_transaction, count) => count },
  );
  const proven = async () => (await postgres.database.select().from(cursors).where(eq(cursors.consumerGroup, "needed")))[0]?.caughtUpTo?.getTime() ?? 0;
  try {
    await vi.waitFor(async () => expect(await proven()).toBeGreaterThan(0), { timeout: 60_000 });
    const before = await proven();
    const seen = looks;
    await vi.waitFor(() => expect(looks).toBeGreaterThan(seen + 2), { timeout: 60_000 });
    expect(await proven()).toBe(before);
    await postgres.database.execute(sql`insert into needed values (now())`);
    await vi.waitFor(async () => expect(await proven()).toBeGreaterThan(before), { timeout: 60_000 });
  } finally {
    await consumer.stop();
  }
});

test("a partition whose rows somebody has locked holds up no other, and goes on when they are free", async () => {
  const wide = await mkdtemp(join(tmpdir(), "pharos-stuck-"));
  const log3 = await openEmbeddedLog({ folder: wide, partitions: 3, retentionBytes: 1e9, retentionMs: 1e9, clock: systemClock, log });
  await postgres.database.execute(sql`create table counted (partition integer primary key, entries integer not null default 0)`);
  await postgres.database.execute(sql`insert into counted (partition) values (0), (1), (2)`);
  const sequences = [0n, 0n, 0n];
  const append = async (partition: number) => {
    const entry = { requestNumber: 0, receivedAt: Date.now(), detached: true, organizationId: newId(), subjectId: newId(), body: Buffer.from(String(partition)) };
    await log3.append("metrics", partition, encodeFrame({ edgeId: EDGE, sequence: (sequences[partition]! += 1n) }, [entry]));
  };
  const counts = async () => (await postgres.database.execute<{ entries: number }>(sql`select entries from counted order by partition`)).rows.map(({ entries }) => entries);
  const consumer = await startTransactionalConsumer<string[], void>(
    { eventLog: log3, database: postgres.database, clock: systemClock, log, metrics: makeMetrics() },
    {
      topic: "metrics",
      group: "stuck",
      prepare: async (entries) => entries.map(({ entry: { body } }) => Buffer.from(body).toString()),
      async apply(transaction, partitions) {
        for (const partition of partitions) await transaction.execute(sql`update counted set entries = entries + 1 where partition = ${Number(partition)}`);
      },
    },
  );
  const holder = await postgres.database.$client.connect();
  try {
    await holder.query("begin");
    await holder.query("select from counted where partition = 1 for update");
    await append(1);
    // The first of them may share a batch with the one that waits; the others do not wait for it.
    for (let n = 1; n <= 30; n++) {
      await append(0);
      await append(2);
      await vi.waitFor(async () => expect(await counts()).toEqual([n, 0, n]), { timeout: 20_000, interval: 5 });
    }
    await append(1);
    await holder.query("commit");
    await vi.waitFor(async () => expect(await counts()).toEqual([30, 2, 30]), { timeout: 60_000, interval: 20 });
  } finally {
    holder.release();
    await consumer.stop();
    await log3.close();
    await rm(wide, { recursive: true, force: true });
  }
});

test("a frame of a newer version waits: it is neither skipped nor a dead letter, and other partitions go on", async () => {
  const wide = await mkdtemp(join(tmpdir(), "pharos-newer-"));
  const log2 = await openEmbeddedLog({ folder: wide, partitions: 2, retentionBytes: 1e9, retentionMs: 1e9, clock: systemClock, log });
  const frameOf = (text: string, sequence: bigint) => encodeFrame({ edgeId: EDGE, sequence }, [{ requestNumber: 0, receivedAt: Date.now(), detached: true, organizationId: newId(), subjectId: newId(), body: Buffer.from(text) }]);
  const newer = frameOf("newer", 2n);
  newer[2] = 7;
  const applied: string[] = [];
  const consumer = await startTransactionalConsumer<string[], string[]>(
    { eventLog: log2, database: postgres.database, clock: systemClock, log, metrics: makeMetrics() },
    { topic: "metrics", group: "newer", prepare: async (entries) => entries.map(({ entry: { body } }) => Buffer.from(body).toString()), apply: async (_transaction, texts) => texts, afterCommit: (texts) => void applied.push(...texts) },
  );
  try {
    await log2.append("metrics", 0, frameOf("before", 1n));
    await log2.append("metrics", 0, newer);
    await log2.append("metrics", 0, frameOf("behind", 3n));
    await vi.waitFor(() => expect(applied).toEqual(["before"]), { timeout: 60_000 });
    for (let n = 1n; n <= 5n; n++) await log2.append("metrics", 1, frameOf(`beside ${n}`, n));
    await vi.waitFor(() => expect(applied).toHaveLength(6), { timeout: 60_000 });
    expect(applied).not.toContain("behind");
    const [stuck] = await postgres.database.select().from(cursors).where(and(eq(cursors.consumerGroup, "newer"), eq(cursors.partition, 0)));
    expect(stuck!.nextOffset).toBe(1n);
    expect(await postgres.database.select().from(deadLetters).where(eq(deadLetters.consumerGroup, "newer"))).toEqual([]);
  } finally {
    await consumer.stop();
    await log2.close();
    await rm(wide, { recursive: true, force: true });
  }
});
