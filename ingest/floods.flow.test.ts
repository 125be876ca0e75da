import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { newId } from "../platform/ids.ts";
import { makeLog } from "../platform/log.ts";
import { openDatabase } from "../platform/postgres/database.ts";
import { floods } from "../schemas/tables/all.ts";
import { freshDatabase } from "../testing/postgres.ts";
import { floodersOf, makeFloods } from "./floods.ts";

const limits = { share: 0.5, fromBytes: 1_000 };

describe("of what came in within a second", () => {
  it.each([
    { name: "who is more than its share floods", bytes: { a: 900, b: 100 }, flooders: ["a"] },
    { name: "who is exactly its share does not", bytes: { a: 500, b: 500 }, flooders: [] },
    { name: "nobody floods while there is little", bytes: { a: 900, b: 99 }, flooders: [] },
    { name: "nobody floods who is alone", bytes: { a: 100_000 }, flooders: [] },
    { name: "nothing is no flood", bytes: {}, flooders: [] },
    { name: "many together are no flood", bytes: { a: 400, b: 400, c: 400 }, flooders: [] },
  ])("$name", ({ bytes, flooders }) => {
    expect(floodersOf(new Map(Object.entries(bytes)), limits)).toEqual(flooders);
  });

  it("two flood together where a share is small", () => {
    expect(floodersOf(new Map([["a", 500], ["b", 400], ["c", 100]]), { share: 0.3, fromBytes: 0 })).toEqual(["a", "b"]);
  });
});

describe("beacons of an organization that floods", () => {
  let fresh: Awaited<ReturnType<typeof freshDatabase>>;
  let now: number;
  const clock = { now: () => now, monotonic: () => now };
  const edge = () => makeFloods({ database: fresh.database, clock, log: makeLog("silent"), ...limits });
  const [hot, calm] = [newId(), newId()];

  beforeAll(async () => {
    fresh = await freshDatabase();
  });
  afterAll(() => fresh.drop());
  beforeEach(async () => {
    await fresh.database.delete(floods);
    now = Date.parse("2026-01-31T12:00:00Z");
  });

  async function flood(at: ReturnType<typeof edge>): Promise<void> {
    at.topicOf(hot, 5_000);
    at.topicOf(calm, 100);
    now += 1_000;
    at.topicOf(calm, 100);
    await vi.waitFor(async () => expect(await fresh.database.$count(floods)).toBe(1));
    await vi.waitFor(() => expect(at.size()).toBe(1));
  }

  it("go elsewhere at every edge from the same moment on, and those of others do not", async () => {
    const [one, two] = [edge(), edge()];
    await flood(one);
    await two.refresh();
    const [announced] = await fresh.database.select().from(floods);
    const { since } = announced!;
    // Processors and other edges read it in the meantime.
    expect(since.getTime() - now).toBeGreaterThanOrEqual(1_500);
    for (const each of [one, two]) expect(each.topicOf(hot, 1)).toBe("beacons");
    now = since.getTime();
    for (const each of [one, two]) expect([each.topicOf(hot, 1), each.topicOf(calm, 1)]).toEqual(["beacons-overflow", "beacons"]);
  });

  it("go on elsewhere for an hour after the flood, so that a retry meets its first try, and then come back", async () => {
    const one = edge();
    await flood(one);
    const announcedAt = now;
    now = announcedAt + 59 * 60_000;
    await one.refresh();
    expect(one.topicOf(hot, 1)).toBe("beacons-overflow");
    now = announcedAt + 61 * 60_000;
    await one.refresh();
    expect([one.topicOf(hot, 1), one.size()]).toEqual(["beacons", 0]);
  });

  it("are read again for a timer while beacons come, and every ten seconds while none do", async () => {
    const [one, two] = [edge(), edge()];
    await two.refreshForUse();
    await flood(one);
    await two.refreshForUse();
    expect(two.size()).toBe(0);
    two.topicOf(calm, 1);
    await two.refreshForUse();
    expect(two.size()).toBe(1);
    await fresh.database.delete(floods);
    now += 9_000;
    await two.refreshForUse();
    expect(two.size()).toBe(1);
    now += 1_000;
    await two.refreshForUse();
    expect(two.size()).toBe(0);
  });

  it("go elsewhere for longer while the flood lasts, without a break", async () => {
    const one = edge();
    await flood(one);
    const [first] = await fresh.database.select().from(floods);
    now += 30 * 60_000;
    await one.refresh();
    one.topicOf(calm, 100);
    one.topicOf(hot, 5_000);
    now += 1_000;
    one.topicOf(calm, 100);
    await vi.waitFor(async () => {
      const [again] = await fresh.database.select().from(floods);
      expect(again!.until.getTime()).toBeGreaterThan(first!.until.getTime());
      expect(again!.since).toEqual(first!.since);
    });
  });

  it("stay where they are while it cannot be announced", async () => {
    const nowhere = openDatabase("postgres://nobody@/nothing?host=/nonexistent", 1, makeLog("silent"));
    const away = makeFloods({ database: nowhere, clock, log: makeLog("silent"), ...limits });
    away.topicOf(hot, 5_000);
    away.topicOf(calm, 100);
    now += 1_000;
    expect(away.topicOf(hot, 1)).toBe("beacons");
    await expect(away.refresh()).rejects.toThrow();
    now += 10_000;
    expect(away.topicOf(hot, 1)).toBe("beacons");
    await nowhere.$client.end();
  });
});
