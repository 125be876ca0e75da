import { expect, it } from "vitest";
import { makeLoadTogether, TooManyLoads } from "./load-together.ts";

/** A source whose look-ups end when the test says so. */
function makeSource() {
  const calls: { keys: readonly string[]; end: (value: string) => void }[] = [];
  const load = (keys: readonly string[]) =>
    new Promise<ReadonlyMap<string, string>>((resolve) => {
      calls.push({ keys, end: (value) => resolve(new Map(keys.map((key) => [key, value]))) });
    });
  return { calls, load };
}

it("looks up together what is asked for at once, and shares a look-up that runs", async () => {
  const { calls, load } = makeSource();
  const lookUps = makeLoadTogether({ load });
  const values = [lookUps.load("a"), lookUps.load("b"), lookUps.load("a")];
  await expect.poll(() => calls.length).toBe(1);
  expect(calls[0]!.keys).toEqual(["a", "b"]);
  values.push(lookUps.load("a"));
  calls[0]!.end("first");
  expect(await Promise.all(values)).toEqual(["first", "first", "first", "first"]);
  expect(calls).toHaveLength(1);
});

it("gives nothing that was read before it was asked for, where values must be fresh, and bounds both kinds together", async () => {
  const { calls, load } = makeSource();
  const lookUps = makeLoadTogether({ load, maxLoads: 2, fresh: true });
  const before = [lookUps.load("a"), lookUps.load("a")];
  await expect.poll(() => calls.length).toBe(1);
  const after = lookUps.load("a");
  await expect(lookUps.load("b")).rejects.toBeInstanceOf(TooManyLoads);
  await expect.poll(() => calls.length).toBe(2);
  // The older look-up ends last, and is not taken for the newer one.
  calls[1]!.end("newer");
  expect(await after).toBe("newer");
  calls[0]!.end("older");
  expect(await Promise.all(before)).toEqual(["older", "older"]);
  const again = lookUps.load("b");
  await expect.poll(() => calls.length).toBe(3);
  calls[2]!.end("b");
  expect(await again).toBe("b");
});
