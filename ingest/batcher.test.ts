import { expect, test, vi } from "vitest";
import { systemClock } from "../platform/clock.ts";
import { decodeFrame } from "../platform/event-log/frame.ts";
import { LogUnavailable, type EventLog } from "../platform/event-log/port.ts";
import { appendDirectly } from "../platform/event-log/spooled.ts";
import { newId } from "../platform/ids.ts";
import { makeLog } from "../platform/log.ts";
import { BATCHER_LIMITS, makeBatcher, type BatcherLimits, type Fate } from "./batcher.ts";

const edgeId = newId();

/** A log whose appends the test settles one by one: what a batcher does between them is the subject. */
function gatedLog() {
  const appends: { partition: number; frame: Buffer; succeed(): void; fail(): void }[] = [];
  const append: EventLog["append"] = (_topic, partition, record) =>
    new Promise((resolve, reject) => {
      appends.push({ partition, frame: Buffer.from(record), succeed: resolve, fail: () => reject(new LogUnavailable("the broker is away")) });
    });
  return { appends, log: { append } as unknown as EventLog };
}

function batcherOn(eventLog: EventLog, limits: Partial<BatcherLimits> = {}) {
  return makeBatcher({ appender: appendDirectly(eventLog), edgeId, clock: systemClock, log: makeLog("silent"), limits: { ...BATCHER_LIMITS, ...limits } });
}

function entry(text: string) {
  return { requestNumber: 0, receivedAt: 1_000, detached: true, organizationId: newId(), subjectId: newId(), body: Buffer.from(text) };
}

const bodies = (frame: Buffer) => decodeFrame(frame).entries.map(({ body }) => Buffer.from(body).toString());

test("entries of a partition share a frame, and each is answered once it is durable", async () => {
  const { appends, log } = gatedLog();
  const batcher = batcherOn(log);
  const fates: Fate[] = [];
  for (const text of ["a", "b", "c"]) expect(batcher.add("beacons", 0, entry(text), (fate) => fates.push(fate))).toBe(true);
  await vi.waitUntil(() => appends.length === 1, 60_000);
  expect(bodies(appends[0]!.frame)).toEqual(["a", "b", "c"]);
  expect(fates).toEqual([]);
  appends[0]!.succeed();
  await vi.waitUntil(() => fates.length === 3, 60_000);
  expect(fates).toEqual(["logged", "logged", "logged"]);
  expect(batcher.pendingBytes()).toBe(0);
  expect(batcher.oldestUnsentAt()).toBeNull();
});

test("one frame of a partition is in flight; the next fills meanwhile and is numbered after it", async () => {
  const { appends, log } = gatedLog();
  const batcher = batcherOn(log);
  batcher.add("beacons", 1, entry("first"), () => {});
  await vi.waitUntil(() => appends.length === 1, 60_000);
  batcher.add("beacons", 1, entry("second"), () => {});
  batcher.add("beacons", 1, entry("third"), () => {});
  batcher.add("beacons", 2, entry("elsewhere"), () => {});
  await vi.waitUntil(() => appends.length === 2, 60_000);
  expect(appends[1]!.partition).toBe(2);
  appends[0]!.succeed();
  await vi.waitUntil(() => appends.length === 3, 60_000);
  expect(bodies(appends[2]!.frame)).toEqual(["second", "third"]);
  expect(appends.map(({ frame }) => decodeFrame(frame).head.sequence)).toEqual([1n, 1n, 2n]);
});

test("a failed frame is resent byte for byte under its number, what never left is refused, and news are refused until it is taken", async () => {
  const { appends, log } = gatedLog();
  const batcher = batcherOn(log);
  const fates: Record<string, Fate> = {};
  batcher.add("metrics", 0, entry("in flight"), (fate) => (fates.inFlight = fate));
  await vi.waitUntil(() => appends.length === 1, 60_000);
  batcher.add("metrics", 0, entry("waiting"), (fate) => (fates.waiting = fate));
  appends[0]!.fail();
  await vi.waitUntil(() => appends.length === 2, 60_000);
  expect(fates).toEqual({ waiting: "refused" });
  expect(appends[1]!.frame.equals(appends[0]!.frame)).toBe(true);
  expect(batcher.add("metrics", 0, entry("later"), () => {})).toBe(false);
  expect(batcher.unready()).toContain("broker is away");
  expect(batcher.oldestUnsentAt()).toBe(1_000);
  appends[1]!.succeed();
  await vi.waitUntil(() => fates.inFlight === "logged", 60_000);
  expect(batcher.unready()).toBeNull();
  expect(batcher.add("metrics", 0, entry("later"), () => {})).toBe(true);
});

test("a request in flight past its deadline gets no answer at all, and its frame is still resent", async () => {
  const { appends, log } = gatedLog();
  const batcher = batcherOn(log, { waitMs: 0 });
  const fates: Fate[] = [];
  batcher.add("heartbeats", 0, entry("ping"), (fate) => fates.push(fate));
  await vi.waitUntil(() => appends.length === 1, 60_000);
  appends[0]!.fail();
  await vi.waitUntil(() => appends.length === 2, 60_000);
  expect(fates).toEqual(["unknown"]);
  expect(batcher.oldestUnsentAt()).toBe(1_000);
  appends[1]!.succeed();
  await batcher.drain();
  expect(fates).toEqual(["unknown"]);
});

test("a full frame leaves at once and larger backlogs are cut into frames of the limit", async () => {
  const { appends, log } = gatedLog();
  const batcher = batcherOn(log, { flushAfterMs: 60_000, flushBytes: 300 });
  for (let number = 0; number < 8; number++) batcher.add("beacons", 0, entry("x".repeat(50)), () => {});
  await vi.waitUntil(() => appends.length === 1, 60_000);
  for (let sent = 1; sent < 4; sent++) {
    appends[sent - 1]!.succeed();
    await vi.waitUntil(() => appends.length === sent + 1, 60_000);
  }
  expect(appends.map(({ frame }) => bodies(frame).length)).toEqual([2, 2, 2, 2]);
});

test("bytes waiting are bounded", () => {
  const { log } = gatedLog();
  const batcher = batcherOn(log, { pendingBytes: 1_000 });
  let taken = 0;
  while (batcher.add("beacons", 0, entry("x".repeat(48)), () => {})) taken += 1;
  expect(taken).toBe(10);
  expect(batcher.pendingBytes()).toBeLessThanOrEqual(1_000);
});
