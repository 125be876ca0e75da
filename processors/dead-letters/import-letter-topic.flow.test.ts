import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { systemClock } from "../../platform/clock.ts";
import { openEmbeddedLog } from "../../platform/event-log/embedded.ts";
import { encodeFrame } from "../../platform/event-log/frame.ts";
import type { EventLog } from "../../platform/event-log/port.ts";
import { newId } from "../../platform/ids.ts";
import { makeLog } from "../../platform/log.ts";
import { encodeDeadLetter, type DeadLetterHead } from "../../schemas/messages/dead-letter.ts";
import { deadLetters } from "../../schemas/tables/all.ts";
import { freshDatabase } from "../../testing/postgres.ts";
import { importLetterTopic } from "./import-letter-topic.ts";

const log = makeLog("silent");
let folder: string;
let postgres: Awaited<ReturnType<typeof freshDatabase>>;
let eventLog: EventLog;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "pharos-import-"));
  postgres = await freshDatabase();
  eventLog = await openEmbeddedLog({
    folder,
    partitions: 2,
    retentionBytes: 1e9,
    retentionMs: 1e9,
    clock: systemClock,
    log,
  });
});
afterAll(async () => {
  await eventLog.close();
  await postgres.drop();
  await rm(folder, { recursive: true, force: true });
});

const AT = "2026-01-02T03:04:05.000Z";
const head: DeadLetterHead = {
  type: "dead-letter",
  version: 1,
  group: "errors",
  log_id: "an older log",
  topic: "beacons",
  partition: 1,
  offset: "7",
  entry: 0,
  reason: "entry 0: it was too much",
  at: AT,
};

const put = (partition: number, of: Partial<DeadLetterHead>, bytes: Buffer = Buffer.from("x")) =>
  eventLog.append("dead-letter", partition, encodeDeadLetter({ ...head, ...of }, bytes));
const noteReplay = (partition: number, offset: number, attempt: number) =>
  eventLog.append(
    "dead-letter",
    partition,
    encodeDeadLetter(
      { type: "dead-letter-replayed", version: 1, offset: String(offset), attempt, at: AT },
      Buffer.alloc(0),
    ),
  );

async function imported() {
  let scans = 0;
  await importLetterTopic({
    database: postgres.database,
    eventLog: {
      id: eventLog.id,
      ends: (topic) => eventLog.ends(topic),
      scan(topic, onRecord) {
        scans += 1;
        return eventLog.scan(topic, onRecord);
      },
    },
  });
  const rows = await postgres.database
    .select()
    .from(deadLetters)
    .orderBy(deadLetters.offset, deadLetters.entry);
  return {
    scans,
    letters: rows.map(
      ({ offset, entry, state, replays }) => `${offset}/${entry} ${state} ${replays}`,
    ),
  };
}

test("letters on the old topic come over once, with their replays; a topic without anything new is not read", async () => {
  expect(await imported()).toEqual({ scans: 0, letters: [] });
  await put(1, {});
  // The same letter, from another attempt of the consumer.
  await put(1, {});
  await noteReplay(1, 1, 2);
  await noteReplay(1, 0, 1);
  // Those of older versions had no entry, and no time.
  const receivedAt = Date.parse("2025-06-01T00:00:00Z");
  const frame = encodeFrame({ edgeId: newId(), sequence: 1n }, [
    {
      requestNumber: 1,
      receivedAt,
      detached: true,
      organizationId: newId(),
      subjectId: newId(),
      body: Buffer.from("{}"),
    },
  ]);
  await put(0, { offset: "8", entry: undefined, at: undefined, reason: "entry 3: no" }, frame);
  await put(0, { offset: "9", entry: undefined, reason: "not a frame" });
  await eventLog.append("dead-letter", 0, Buffer.from("not even a letter"));
  const all = ["7/0 replayed 2", "8/3 open 0", "9/-1 open 0"];
  expect(await imported()).toEqual({ scans: 1, letters: all });
  const [first, second] = await postgres.database
    .select()
    .from(deadLetters)
    .orderBy(deadLetters.offset);
  expect(first).toMatchObject({
    consumerGroup: "errors",
    logId: "an older log",
    topic: "beacons",
    partition: 1,
    reason: "it was too much",
    bytes: Buffer.from("x"),
    createdAt: new Date(AT),
    answeredAt: new Date(AT),
  });
  expect(second).toMatchObject({ createdAt: new Date(receivedAt), bytes: frame });

  expect(await imported()).toEqual({ scans: 0, letters: all });
  // An older processor may still run.
  await postgres.database.update(deadLetters).set({ state: "discarded" });
  await put(0, { offset: "10" });
  await noteReplay(1, 0, 3);
  expect(await imported()).toEqual({
    scans: 1,
    letters: ["7/0 discarded 2", "8/3 discarded 0", "9/-1 discarded 0", "10/0 open 0"],
  });
  expect(await imported()).toMatchObject({ scans: 0 });
});
