import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { systemClock } from "../../platform/clock.ts";
import { openEmbeddedLog } from "../../platform/event-log/embedded.ts";
import { decodeFrame, encodeFrame } from "../../platform/event-log/frame.ts";
import type { EventLog } from "../../platform/event-log/port.ts";
import { newId } from "../../platform/ids.ts";
import { makeLog } from "../../platform/log.ts";
import { makeMetrics } from "../../platform/metrics.ts";
import { freshDatabase } from "../../testing/postgres.ts";
import { startTransactionalConsumer } from "./transactional.ts";

const log = makeLog(process.env.PHAROS_TEST_LOG ?? "silent");
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
  const dead: string[] = [];
  const readingDead = await eventLog.consume({
    topic: "dead-letter",
    group: "test",
    startAt: async () => 0n,
    onRecords: async ({ records }) => {
      for (const { value } of records) dead.push(Buffer.from(decodeFrame(value.subarray(value.indexOf(10) + 1)).entries[0]!.body).toString());
      return records.at(-1)!.offset + 1n;
    },
  });
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
  await vi.waitFor(() => expect(dead).toEqual(["poison"]), { timeout: 60_000 });
  await consumer.stop();
  await readingDead.stop();
});
