import { expect, it } from "vitest";
import { makePlaces, makePlacesByOwner } from "./places.ts";

it("lets so many in at a time, in the order in which they came, and counts each giving back once", async () => {
  const places = makePlaces(2);
  const order: string[] = [];
  const [first, second] = [await places.take(), await places.take()];
  const waiting = ["third", "fourth", "fifth"].map((name) => places.take().then((back) => (order.push(name), back)));
  await Promise.resolve();
  expect(order).toEqual([]);
  first();
  first();
  const third = await waiting[0]!;
  expect(order).toEqual(["third"]);
  second();
  third();
  await Promise.all(waiting);
  expect(order).toEqual(["third", "fourth", "fifth"]);
});

it("an owner whose places are taken waits for itself alone, and a work that fails gives its place back", async () => {
  const places = makePlacesByOwner(2);
  const running: string[] = [];
  const ends: Record<string, { end: () => void; fail: (error: Error) => void }> = {};
  const begin = (owner: string, name: string) =>
    places.occupy(owner, () => {
      running.push(name);
      return new Promise<string>((end, fail) => {
        ends[name] = { end: () => end(name), fail };
      });
    });
  const [first, second, third] = [begin("a", "a1"), begin("a", "a2"), begin("a", "a3")];
  const other = begin("b", "b1");
  await new Promise((resolve) => setImmediate(resolve));
  expect(running).toEqual(["a1", "a2", "b1"]);
  ends["a1"]!.fail(new Error("broken"));
  await expect(first).rejects.toThrow("broken");
  await new Promise((resolve) => setImmediate(resolve));
  expect(running).toEqual(["a1", "a2", "b1", "a3"]);
  for (const name of ["a2", "a3", "b1"]) ends[name]!.end();
  expect(await Promise.all([second, third, other])).toEqual(["a2", "a3", "b1"]);
});
