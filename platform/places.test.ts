import { expect, it } from "vitest";
import { makePlaces } from "./places.ts";

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
