import { eq } from "drizzle-orm";
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import type { Clock } from "../../platform/clock.ts";
import { newId } from "../../platform/ids.ts";
import { makeLog } from "../../platform/log.ts";
import type { Database } from "../../platform/postgres/database.ts";
import { cursors, edges, events, heartbeatMonitors, organizations } from "../../schemas/tables/all.ts";
import { freshDatabase } from "../../testing/postgres.ts";
import { makeLateFinder } from "./find-late.ts";
import { readProvenUpTo } from "./proven-up-to.ts";

const T = Date.parse("2026-05-04T12:00:00Z");
const at = (seconds: number) => new Date(T + seconds * 1_000);
const LOG = { logId: "log-1", partitions: 2 };

let database: Database;
let drop: () => Promise<void>;

beforeAll(async () => ({ database, drop } = await freshDatabase()));
afterAll(() => drop());

beforeEach(async () => {
  for (const table of [cursors, edges, organizations]) await database.delete(table);
});

async function caughtUp(...seconds: (number | null)[]): Promise<void> {
  for (const [partition, second] of seconds.entries()) {
    const caughtUpTo = second === null ? null : at(second);
    const cursor = { consumerGroup: "heartbeats", logId: LOG.logId, topic: "heartbeats", partition, nextOffset: 0n, epoch: 1n, caughtUpTo };
    await database
      .insert(cursors)
      .values(cursor)
      .onConflictDoUpdate({ target: [cursors.consumerGroup, cursors.logId, cursors.topic, cursors.partition], set: { caughtUpTo } });
  }
}

const edgeSeen = (second: number, oldestUnsent: number | null = null) =>
  database.insert(edges).values({ id: newId(), seenAt: at(second), oldestUnsentAt: oldestUnsent === null ? null : at(oldestUnsent) });
const proven = (second: number) => readProvenUpTo(database, { ...LOG, now: at(second) });

describe("readProvenUpTo", () => {
  it("is the moment that the slowest partition has reached", async () => {
    await edgeSeen(100);
    await caughtUp(90, 80);
    expect(await proven(100)).toEqual(at(80));
  });

  it("is unknown while a partition has no cursor or has never caught up", async () => {
    await edgeSeen(100);
    await caughtUp(90);
    expect(await proven(100)).toBeNull();
    await caughtUp(90, null);
    expect(await proven(100)).toBeNull();
  });

  it("does not count another log's or group's cursors", async () => {
    await edgeSeen(100);
    await caughtUp(90);
    await database.insert(cursors).values({ consumerGroup: "heartbeats", logId: "old log", topic: "heartbeats", partition: 1, nextOffset: 0n, epoch: 1n, caughtUpTo: at(95) });
    await database.insert(cursors).values({ consumerGroup: "ping-history", logId: LOG.logId, topic: "heartbeats", partition: 1, nextOffset: 0n, epoch: 1n, caughtUpTo: at(95) });
    expect(await proven(100)).toBeNull();
  });

  it("waits for what an edge could not send yet, ten minutes beyond the edge's last sign of life", async () => {
    await caughtUp(990, 990);
    await edgeSeen(400, 300);
    await edgeSeen(999);
    expect(await proven(999)).toEqual(at(300));
    await edgeSeen(1_010);
    expect(await proven(1_010)).toEqual(at(990));
  });

  it("is unknown while no edge is alive to take a ping", async () => {
    await caughtUp(90, 90);
    expect(await proven(100)).toBeNull();
    await edgeSeen(60);
    expect(await proven(100)).toBeNull();
  });
});

describe("the late finder", () => {
  it("finds a late monitor once it can be proven, and gives the grace again after an interruption", async () => {
    const organizationId = newId();
    const id = newId();
    await database.insert(organizations).values({ id: organizationId, name: "Acme", plan: "free" });
    await database
      .insert(heartbeatMonitors)
      .values({ id, organizationId, name: "Job", slug: "job", scheduleType: "interval", intervalSeconds: 60, graceSeconds: 60, status: "up", lastPingAt: at(0), nextExpectedAt: at(60) });
    let now = 0;
    const clock: Clock = { now: () => T + now * 1_000, monotonic: () => now * 1_000 };
    const finder = makeLateFinder({ database, clock, config: { SCHEDULER_TICK_MS: 20 }, log: makeLog("silent"), ...LOG });
    const status = async () => (await database.select().from(heartbeatMonitors).where(eq(heartbeatMonitors.id, id)))[0]!.status;
    /** The time moves to `second`; edges and processors are there. */
    async function moveTo(second: number): Promise<void> {
      await caughtUp(second, second);
      await edgeSeen(second);
      now = second;
    }

    finder.start();
    try {
      await moveTo(70);
      await vi.waitFor(async () => expect(await status()).toBe("grace"), 60_000);
      // Nobody could take pings for ten minutes: the grace begins again at 700.
      now = 690;
      await database.delete(edges);
      const looks = vi.spyOn(database, "execute");
      await vi.waitFor(() => expect(looks.mock.calls.length).toBeGreaterThan(2), 60_000);
      await moveTo(700);
      await vi.waitFor(() => expect(looks.mock.calls.length).toBeGreaterThan(8), 60_000);
      expect(await status()).toBe("grace");
      looks.mockRestore();
      await moveTo(765);
      await vi.waitFor(async () => expect(await status()).toBe("down"), 60_000);
    } finally {
      await finder.stop();
    }
    const types = (await database.select().from(events)).map(({ type }) => type).sort();
    expect(types).toEqual(["heartbeat.missed", "monitor.down"]);
  });
});
