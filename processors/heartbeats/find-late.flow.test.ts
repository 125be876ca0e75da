import { eq, type SQL } from "drizzle-orm";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { recordPings } from "../../domain/heartbeats/record-pings.ts";
import type { Clock } from "../../platform/clock.ts";
import { makeDueLooks } from "../../platform/due-looks.ts";
import { newId } from "../../platform/ids.ts";
import { makeLog } from "../../platform/log.ts";
import { inTransaction, openLookingDatabase, type Database } from "../../platform/postgres/database.ts";
import { cursors, edges, events, heartbeatMonitors, organizations } from "../../schemas/tables/all.ts";
import { freshDatabase } from "../../testing/postgres.ts";
import { makeLateFinder } from "./find-late.ts";
import { readProvenUpTo } from "./proven-up-to.ts";

const T = Date.parse("2026-05-04T12:00:00Z");
const at = (seconds: number) => new Date(T + seconds * 1_000);
const LOG = { logId: "log-1", partitions: 2 };

let database: Database;
let drop: () => Promise<void>;
let url: string;

beforeAll(async () => ({ database, drop, url } = await freshDatabase()));
afterAll(() => drop());

beforeEach(async () => {
  for (const table of [cursors, edges, events, organizations]) await database.delete(table);
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

  it("does not change with partitions that were added to the topic, which no edge writes to", async () => {
    await edgeSeen(100);
    await caughtUp(90, 80, null, 10);
    expect(await proven(100)).toEqual(at(80));
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

  it("takes nothing that is dated in the future for a proof, and is never later than now", async () => {
    await caughtUp(105, 105);
    await edgeSeen(100);
    expect(await proven(100)).toEqual(at(100));
    await caughtUp(105, 3_700);
    expect(await proven(100)).toBeNull();
    await caughtUp(105, 105);
    await database.delete(edges);
    await edgeSeen(3_700);
    expect(await proven(100)).toBeNull();
  });

  it("is unknown while no edge is alive to take a ping", async () => {
    await caughtUp(90, 90);
    expect(await proven(100)).toBeNull();
    await edgeSeen(60);
    expect(await proven(100)).toBeNull();
  });
});

/** Fewer seconds than those after which an edge counts as gone. */
const STRIDE = 20;

/** A late finder whose time the test moves, and one monitor that was pinged at 0 and is expected at 60, with a grace of a minute. */
async function startFinder(lookingDatabase?: Database) {
  const organizationId = newId();
  const id = newId();
  await database.insert(organizations).values({ id: organizationId, name: "Acme", plan: "free" });
  await database
    .insert(heartbeatMonitors)
    .values({ id, organizationId, name: "Job", slug: "job", scheduleType: "interval", intervalSeconds: 60, graceSeconds: 60, status: "up", lastPingAt: at(0), nextExpectedAt: at(60) });
  let now = 0;
  /** By how much the wall was set, in seconds. */
  let set = 0;
  const clock: Clock = { now: () => T + (now + set) * 1_000, monotonic: () => now * 1_000 };
  const log = makeLog("silent");
  const dueLooks = lookingDatabase && makeDueLooks({ database: lookingDatabase, clock, log, everyMs: 10 });
  const finder = makeLateFinder({ database, clock, config: { SCHEDULER_TICK_MS: 20 }, log, ...LOG, ...(dueLooks && { looks: dueLooks }) });
  const execute = database.execute.bind(database);
  let lastAnswer: Promise<unknown> = Promise.resolve();
  const looks = vi.spyOn(database, "execute").mockImplementation(((query: SQL) => {
    const answer = Promise.resolve(execute(query));
    lastAnswer = answer.catch(() => undefined);
    return answer;
  }) as never);
  finder.start();
  return {
    status: async () => (await database.select().from(heartbeatMonitors).where(eq(heartbeatMonitors.id, id)))[0]!.status,
    /** Time passes; edges and processors are there all the while. */
    async passUntil(second: number): Promise<void> {
      while (now < second) {
        // A look that asked two strides ago would find cursors in its future, which prove nothing to it.
        await lastAnswer;
        const next = Math.min(now + STRIDE, second);
        await caughtUp(next + set, next + set);
        await edgeSeen(next + set);
        now = next;
      }
    },
    /** Time passes without them. */
    async passAlone(seconds: number): Promise<void> {
      await database.delete(edges);
      now += seconds;
    },
    /** Somebody sets the wall clock of all processes; those that tell of themselves may be first. */
    async set(seconds: number): Promise<void> {
      await caughtUp(now + set + seconds, now + set + seconds);
      await edgeSeen(now + set + seconds);
      set += seconds;
    },
    /** How many statements it has made. */
    asked: () => looks.mock.calls.length,
    /** Some looks later. */
    async looked(): Promise<void> {
      const before = looks.mock.calls.length;
      await vi.waitFor(() => expect(looks.mock.calls.length).toBeGreaterThan(before + 6), 60_000);
    },
    ping: (second: number) =>
      inTransaction(database, (tx) =>
        recordPings(tx, [{ monitorId: id, organizationId, receivedAt: T + second * 1_000, edgeId: null, ping: { status: "ok", run_id: null, exit_code: null, duration_ms: null, message: null } }], at(second)),
      ),
    told: async () => (await database.select().from(events)).map(({ type }) => type).sort(),
    async stop() {
      looks.mockRestore();
      await finder.stop();
    },
  };
}

describe("the late finder beside others that look for due work", () => {
  it("looks every five seconds while no deadline is near, and all the time before one", async () => {
    const looking = openLookingDatabase(url, makeLog("silent"));
    const looks = vi.spyOn(looking, "execute");
    const someLooks = async () => {
      const before = looks.mock.calls.length;
      await vi.waitFor(() => expect(looks.mock.calls.length).toBeGreaterThan(before + 10), 60_000);
    };
    const finder = await startFinder(looking);
    const asks = (times: number) => vi.waitFor(() => expect(finder.asked()).toBeGreaterThanOrEqual(times), 60_000);
    try {
      await finder.passUntil(30);
      await asks(2);
      await someLooks();
      const settled = finder.asked();
      await someLooks();
      expect(finder.asked()).toBe(settled);
      await finder.passUntil(35);
      await asks(settled + 1);
      await finder.passUntil(45);
      await finder.looked();
      await finder.passUntil(70);
      await vi.waitFor(async () => expect(await finder.status()).toBe("grace"), 60_000);
      await finder.passUntil(130);
      await vi.waitFor(async () => expect(await finder.status()).toBe("down"), 60_000);
    } finally {
      await finder.stop();
      await looking.$client.end();
    }
  });
});

describe("the late finder", () => {
  let finder: Awaited<ReturnType<typeof startFinder>>;
  beforeEach(async () => {
    finder = await startFinder();
  });
  afterEach(() => finder.stop());
  const comes = (status: string) => vi.waitFor(async () => expect(await finder.status()).toBe(status), 60_000);

  it("finds a late monitor once it can be proven, and gives the grace again after an interruption", async () => {
    await finder.passUntil(70);
    await comes("grace");
    // Nobody could take pings for ten minutes: the grace begins again at 700.
    await finder.passAlone(620);
    await finder.looked();
    await finder.passUntil(700);
    await finder.looked();
    expect(await finder.status()).toBe("grace");
    await finder.passUntil(765);
    await comes("down");
    expect(await finder.told()).toEqual(["heartbeat.missed", "monitor.down"]);
  });

  it("lets no monitor fall because the clock was set forward by an hour, and finds a late one after its grace", async () => {
    await finder.passUntil(10);
    await finder.looked();
    await finder.set(3_600);
    await finder.looked();
    expect(await finder.status()).toBe("grace");
    await finder.passUntil(60);
    await finder.looked();
    expect(await finder.status()).toBe("grace");
    await finder.passUntil(75);
    await comes("down");
  });

  it("lets a monitor that is pinged as ever stay up when the clock is set back by an hour, and finds it late afterwards", async () => {
    await finder.passUntil(50);
    await finder.looked();
    await finder.set(-3_600);
    await finder.looked();
    await finder.passUntil(55);
    await finder.ping(55 - 3_600);
    await finder.looked();
    await finder.passUntil(114);
    await finder.looked();
    expect(await finder.status()).toBe("up");
    await finder.passUntil(120);
    await comes("grace");
    await finder.passUntil(180);
    await comes("down");
    expect(await finder.told()).toEqual(["heartbeat.missed", "monitor.down"]);
  });
});
