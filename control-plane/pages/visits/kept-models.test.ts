import { beforeEach, describe, expect, it } from "vitest";
import { makeLog } from "../../../platform/log.ts";
import { makeKeptModels, type KeptModels } from "./kept-models.ts";

let now: number;
let kept: KeptModels;
let count: number;
beforeEach(() => {
  now = 1_000_000;
  count = 0;
  kept = makeKeptModels({ clock: { now: () => now, monotonic: () => now }, log: makeLog("silent"), maxBytes: 1e6 });
});

const read = async () => ++count;
const fail = async () => {
  throw new Error("away");
};
const get = (reader: () => Promise<number> = read) => kept.get("page", () => "acme", reader);
const model = async () => (await get()).model;

describe("kept models", () => {
  it("are read once however many ask", async () => {
    expect(await Promise.all([model(), model(), model()])).toEqual([1, 1, 1]);
    expect(await model()).toBe(1);
  });

  it("are read again after a drop of their owner or of all, and not of others", async () => {
    await model();
    kept.drop("other");
    expect(await model()).toBe(1);
    kept.drop("acme");
    expect(await model()).toBe(2);
    kept.drop(null);
    expect(await model()).toBe(3);
  });

  it("that nobody owns are read again after any drop", async () => {
    const nobodys = async () => (await kept.get("none", () => null, read)).model;
    expect([await nobodys(), await nobodys()]).toEqual([1, 1]);
    kept.drop("other");
    expect(await nobodys()).toBe(2);
  });

  it("that were being read while they were dropped are not given to who asks after the drop", async () => {
    let open = () => {};
    const gate = new Promise<void>((resolve) => (open = resolve));
    const early = get(async () => gate.then(() => 100));
    kept.drop(null);
    const late = get();
    open();
    expect((await late).model).toBe(1);
    expect((await early).model).toBe(100);
    expect(await model()).not.toBe(100);
  });

  it("are given while they are read again after 10 s, and waited for after 20 s", async () => {
    await model();
    now += 10_000;
    expect(await model()).toBe(1);
    await expect.poll(() => model()).toBe(2);
    now += 20_000;
    expect(await model()).toBe(3);
  });

  it("are not displaced by what does not exist", async () => {
    await model();
    for (let n = 0; n < 5_000; n++) await kept.get(`none ${n}`, () => null, async () => null);
    expect(await model()).toBe(1);
  });

  it("are shown as they last were, with the time, while they cannot be read", async () => {
    const readAt = now;
    await model();
    kept.drop("acme");
    now += 500;
    expect(await get(fail)).toMatchObject({ model: 1, staleSince: readAt });
    now += 60_000;
    expect(await get(fail)).toMatchObject({ model: 1, staleSince: readAt });
    now += 1_000;
    await get();
    await expect.poll(() => get()).toMatchObject({ model: 2, staleSince: null });
  });

  it("are not shown any more after a day", async () => {
    await model();
    now += 86_400_000;
    expect(await get(fail)).toMatchObject({ model: 1 });
    now += 20_001;
    await expect(get(fail)).rejects.toThrow("away");
  });

  it("are kept within a bound of bytes", async () => {
    const big = (n: number) => kept.get(`big ${n}`, () => "acme", async () => `${n}`.repeat(100_000));
    await model();
    for (let n = 1; n < 9; n++) await big(n);
    expect(await model()).toBe(2);
  });

  it("are shown, marked, rather than waited for while reading hangs", async () => {
    await model();
    kept.drop("acme");
    expect(await get(() => new Promise<number>(() => {}))).toEqual({ model: 1, staleSince: now });
  });

  it("that were never read fail", async () => {
    await expect(get(fail)).rejects.toThrow("away");
    expect(await model()).toBe(1);
  });
});
