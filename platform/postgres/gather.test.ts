import { setImmediate as nextTurn } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { Failure } from "../failures.ts";
import { makeGather } from "./gather.ts";

const sqlError = (code: string) => Object.assign(new Error(`postgres says ${code}`), { code });

/** Doubles numbers; fails as told. Notes what went together. */
function doubling(fail: (items: number[]) => Error | null = () => null, most = 3) {
  const batches: number[][] = [];
  const key = {};
  const gather = makeGather({ most }, async (_key: object, items: number[]) => {
    batches.push(items);
    await nextTurn();
    const error = fail(items);
    if (error) throw error;
    return items.map((item) => item * 2);
  });
  return { batches, ask: (item: number) => gather(key, item) };
}

describe("gathering", () => {
  it("lets the first go at once, and what comes meanwhile together, never more than the most", async () => {
    const { batches, ask } = doubling();
    expect(await Promise.all([1, 2, 3, 4, 5].map(ask))).toEqual([2, 4, 6, 8, 10]);
    expect(batches).toEqual([[1], [2, 3, 4], [5]]);
    expect(await ask(6)).toBe(12);
  });

  it.each([sqlError("23503"), new Failure("NOT_FOUND", "No such incident."), new RangeError("Invalid time value")])("tries each alone when several are refused: only the one that is wrong fails, by $message", async (refusal) => {
    const { batches, ask } = doubling((items) => (items.includes(3) ? refusal : null));
    const settled = await Promise.allSettled([1, 2, 3, 4].map(ask));
    expect(settled.map((each) => (each.status === "fulfilled" ? each.value : (each.reason as Error).message))).toEqual([2, 4, refusal.message, 8]);
    expect(batches).toEqual([[1], [2, 3, 4], [2], [3], [4]]);
  });

  it.each([sqlError("57P01"), sqlError("ECONNRESET"), new Error("Connection terminated unexpectedly")])("tries nothing twice when Postgres is lost, which may have written it: $message", async (lost) => {
    const { batches, ask } = doubling((items) => (items.includes(3) ? lost : null));
    const settled = await Promise.allSettled([1, 2, 3, 4].map(ask));
    expect(settled.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "rejected", "rejected"]);
    expect(batches).toEqual([[1], [2, 3, 4]]);
    expect(await ask(5)).toBe(10);
  });

  it("begins its calls apart while many come, and lets nobody wait after a silence", async () => {
    const begun: { at: number; items: number[] }[] = [];
    const gather = makeGather({ most: 10, everyMs: 40 }, async (_key: object, items: number[]) => {
      begun.push({ at: performance.now(), items });
      await nextTurn();
      return items;
    });
    const key = {};
    await gather(key, 1);
    await Promise.all([gather(key, 2), nextTurn().then(() => gather(key, 3))]);
    expect(begun.map(({ items }) => items)).toEqual([[1], [2, 3]]);
    // A timer may end a fraction of a ms early.
    expect(begun[1]!.at - begun[0]!.at).toBeGreaterThan(38);
  });

  it("keeps what belongs to different keys apart", async () => {
    const batches: string[][] = [];
    const gather = makeGather({ most: 10 }, async (_key: object, items: string[]) => {
      batches.push(items);
      await nextTurn();
      return items;
    });
    const [left, right] = [{}, {}];
    await Promise.all([gather(left, "a"), gather(right, "x"), gather(left, "b"), gather(right, "y")]);
    expect(batches).toEqual([["a"], ["x"], ["b"], ["y"]]);
  });
});
