import { expect, test } from "vitest";
import type { Clock } from "../platform/clock.ts";
import { TooManyLoads } from "../platform/load-together.ts";
import { makeRevalidatingCache } from "./revalidating-cache.ts";

interface Value {
  id: string;
  text: string;
}

/** A cache over a source that the test changes, with a clock that it moves. */
function setUp({ values, ...options }: { values: Record<string, Value>; capacity?: number; absentForMs?: number; maxLoads?: number; maxAbsences?: number; reloadMs?: number }) {
  const source = { values: new Map(Object.entries(values)), loads: [] as string[][], away: false, gate: Promise.resolve() };
  const time = { now: 1_000 };
  const clock: Clock = { now: () => time.now, monotonic: () => time.now };
  const cache = makeRevalidatingCache<Value>({
    clock,
    capacity: 100,
    revalidateAfterMs: 60_000,
    absentForMs: 0,
    marksOf: ({ id }) => [id, `group of ${id}`],
    async load(keys) {
      source.loads.push([...keys]);
      const found = new Map(keys.flatMap((key) => (source.values.has(key) ? [[key, source.values.get(key)!] as const] : [])));
      await source.gate;
      if (source.away) throw new Error("away");
      return found;
    },
    ...options,
  });
  return { cache, source, time };
}

const settled = async (): Promise<void> => {
  for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setImmediate(resolve));
};

test("a change replaces every entry of its value, in one load, and the old value serves until then", async () => {
  const { cache, source } = setUp({ values: { slug: { id: "1", text: "old" }, id: { id: "1", text: "old" }, other: { id: "2", text: "same" } } });
  for (const key of ["slug", "id", "other"]) await cache.get(key);
  source.loads.length = 0;
  for (const key of ["slug", "id"]) source.values.set(key, { id: "1", text: "new" });
  cache.revalidate(["1", "nobody's"]);
  expect(cache.peek("slug")).toEqual({ id: "1", text: "old" });
  await settled();
  expect(cache.peek("slug")).toEqual({ id: "1", text: "new" });
  expect(cache.peek("id")).toEqual({ id: "1", text: "new" });
  expect(source.loads).toEqual([["slug", "id"]]);
  source.values.delete("slug");
  cache.revalidate(["group of 1"]);
  await settled();
  expect([cache.peek("slug"), cache.peek("id")?.text, cache.peek("other")?.text]).toEqual([undefined, "new", "same"]);
});

test("what cannot be read again goes on serving, and is read by a later call", async () => {
  const { cache, source } = setUp({ values: { key: { id: "1", text: "old" } } });
  await cache.get("key");
  source.away = true;
  source.values.set("key", { id: "1", text: "new" });
  cache.revalidate(["1"]);
  await settled();
  cache.revalidate([]);
  await settled();
  expect(cache.peek("key")?.text).toBe("old");
  source.away = false;
  cache.revalidate([]);
  await settled();
  expect(cache.peek("key")?.text).toBe("new");
});

test("a reading that never ends keeps no later one waiting", async () => {
  const { cache, source } = setUp({ values: { key: { id: "1", text: "old" } }, reloadMs: 20 });
  await cache.get("key");
  source.gate = new Promise(() => undefined);
  cache.revalidate(["1"]);
  await new Promise((resolve) => setTimeout(resolve, 60));
  source.gate = Promise.resolve();
  source.values.set("key", { id: "1", text: "new" });
  cache.revalidate([]);
  await settled();
  expect(cache.peek("key")?.text).toBe("new");
});

test("a change that comes while a value is being loaded makes it load once more", async () => {
  const { cache, source } = setUp({ values: { key: { id: "1", text: "old" } } });
  let open = (): void => undefined;
  source.gate = new Promise((resolve) => (open = resolve));
  const loading = cache.get("key");
  await settled();
  source.values.set("key", { id: "1", text: "new" });
  cache.revalidate(["1"]);
  open();
  expect((await loading)?.text).toBe("old");
  await settled();
  expect(cache.peek("key")?.text).toBe("new");

  source.gate = new Promise((resolve) => (open = resolve));
  cache.revalidate(["1"]);
  await settled();
  source.values.set("key", { id: "1", text: "newest" });
  cache.revalidate(["1"]);
  open();
  await settled();
  expect(cache.peek("key")?.text).toBe("newest");
});

test("old entries are read again together, once, while they serve", async () => {
  const keys = ["a", "b", "c"];
  const { cache, source, time } = setUp({ values: Object.fromEntries(keys.map((key) => [key, { id: key, text: key }])) });
  for (const key of keys) await cache.get(key);
  source.loads.length = 0;
  time.now += 60_001;
  for (const key of [...keys, ...keys]) expect(cache.peek(key)?.text).toBe(key);
  await settled();
  for (const key of keys) cache.peek(key);
  await settled();
  expect(source.loads).toEqual([keys]);
});

test("keys that somebody makes up push out none that exist, and are forgotten themselves", async () => {
  const { cache, source, time } = setUp({ values: { key: { id: "1", text: "one" } }, capacity: 3, absentForMs: 2_000, maxAbsences: 2 });
  await cache.get("key");
  for (let number = 0; number < 20; number++) expect(await cache.get(`made up ${number}`)).toBeNull();
  expect(cache.peek("key")?.text).toBe("one");
  expect([cache.peek("made up 0"), cache.peek("made up 19")]).toEqual([undefined, null]);
  source.values.set("made up 19", { id: "2", text: "made since" });
  time.now += 2_001;
  expect((await cache.get("made up 19"))?.text).toBe("made since");
});

test("entries beyond the capacity go, the oldest first, and their marks with them", async () => {
  const values = Object.fromEntries(["a", "b", "c"].map((key) => [key, { id: key, text: key }]));
  const { cache, source } = setUp({ values, capacity: 2 });
  for (const key of ["a", "b", "c"]) await cache.get(key);
  expect([cache.peek("a"), cache.peek("b")?.text, cache.peek("c")?.text]).toEqual([undefined, "b", "c"]);
  source.loads.length = 0;
  cache.revalidate(["a", "b"]);
  await settled();
  expect(source.loads).toEqual([["b"]]);
});

test("keys that are looked up at the same time are bounded and go together, and one key is looked up once", async () => {
  const { cache, source } = setUp({ values: {}, maxLoads: 2 });
  let open = (): void => undefined;
  source.gate = new Promise((resolve) => (open = resolve));
  const first = [cache.get("a"), cache.get("a"), cache.get("b")];
  await expect(cache.get("c")).rejects.toBeInstanceOf(TooManyLoads);
  open();
  expect(await Promise.all(first)).toEqual([null, null, null]);
  expect(await cache.get("c")).toBeNull();
  expect(source.loads).toEqual([["a", "b"], ["c"]]);
});
