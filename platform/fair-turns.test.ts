import { expect, test } from "vitest";
import { makeFairTurns, TooManyWait } from "./fair-turns.ts";

/** Turns whose length is told by the test; which owner had them is written down. */
function play({ perOwner = 100, overall = 1_000 } = {}) {
  let time = 0;
  const had: string[] = [];
  const turns = makeFairTurns({ perOwner, overall, now: () => time });
  const take = async (owner: string, ms: number): Promise<void> => {
    const end = await turns.take(owner);
    had.push(owner);
    time += ms;
    // The others come in before it ends.
    await Promise.resolve();
    end();
    end();
  };
  return { turns, take, had };
}

test("turns of one owner come in their order, one at a time", async () => {
  const { turns } = play();
  const order: number[] = [];
  const end = await turns.take("a");
  const others = [1, 2, 3].map(async (number) => {
    const end = await turns.take("a");
    order.push(number);
    end();
  });
  await Promise.resolve();
  expect(order).toEqual([]);
  end();
  await Promise.all(others);
  expect(order).toEqual([1, 2, 3]);
});

test("who has many long turns makes another wait for one of them", async () => {
  const { take, had } = play({ perOwner: 1_000 });
  await Promise.all([...Array.from({ length: 10 }, () => take("long", 60_000)), ...Array.from({ length: 300 }, () => take("short", 100))]);
  expect(had.slice(0, 301)).toEqual(["long", ...Array.from({ length: 300 }, () => "short")]);
  expect(had).toHaveLength(310);
});

test("turns of the same length go round", async () => {
  const { take, had } = play();
  await Promise.all(["a", "a", "a", "b", "b", "b", "c", "c", "c"].map((owner) => take(owner, 10)));
  expect(had.join("")).toBe("abcabcabc");
});

test("who was away has saved up nothing", async () => {
  const { take, had } = play();
  const busy = Array.from({ length: 20 }, () => take("busy", 1_000));
  const early = take("away", 1);
  await early;
  await take("away", 1_000);
  await Promise.all([...busy, ...Array.from({ length: 10 }, () => take("away", 1_000))]);
  const later = had.slice(had.lastIndexOf("busy") - 6);
  expect(later.filter((owner) => owner === "busy").length).toBeGreaterThanOrEqual(3);
});

test("only so many of one owner wait, and of all", async () => {
  const { turns } = play({ perOwner: 2, overall: 3 });
  const end = await turns.take("a");
  const waiting = [turns.take("a"), turns.take("a"), turns.take("b")];
  await expect(turns.take("a")).rejects.toEqual(expect.objectContaining({ of: "owner" }));
  await expect(turns.take("c")).rejects.toBeInstanceOf(TooManyWait);
  await expect(turns.take("c")).rejects.toEqual(expect.objectContaining({ of: "all" }));
  end();
  for (const next of waiting) (await next)();
  (await turns.take("c"))();
});
