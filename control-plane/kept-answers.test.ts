import { expect, test } from "vitest";
import { makeKeptAnswers } from "./kept-answers.ts";

const answer = (body: string) => () => Promise.resolve({ body });

test("an answer is made once for its version, also for those who ask at the same time", async () => {
  const kept = makeKeptAnswers(10_000);
  let made = 0;
  const make = async () => ({ body: String(++made) });
  expect(await Promise.all([kept.find("us", "a", "1", make), kept.find("us", "a", "1", make), kept.find("us", "b", "1", make)])).toEqual([{ body: "1" }, { body: "1" }, { body: "2" }]);
  expect(await kept.find("us", "a", "1", make)).toEqual({ body: "1" });
  expect(await kept.find("us", "a", "2", make)).toEqual({ body: "3" });
  // Who read its version before the change may still come with it.
  expect(await kept.find("us", "a", "1", make)).toEqual({ body: "4" });
});

test("a failure is nobody else's answer", async () => {
  const kept = makeKeptAnswers(10_000);
  await expect(kept.find("us", "a", "1", () => Promise.reject(new Error("away")))).rejects.toThrow("away");
  expect(await kept.find("us", "a", "1", answer("back"))).toEqual({ body: "back" });
});

test("what was asked for longest ago goes first when there is no room", async () => {
  const kept = makeKeptAnswers(1_700);
  const big = "x".repeat(200);
  const find = (name: string, body: string) => kept.find(`owner of ${name}`, "1", "1", answer(body));
  for (const name of ["a", "b", "c", "d"]) await find(name, big);
  await find("a", "new");
  await find("e", big);
  expect(await find("a", "new")).toEqual({ body: big });
  expect(await find("b", "new")).toEqual({ body: "new" });
  expect(await find("f", "y".repeat(2_000))).toEqual({ body: "y".repeat(2_000) });
  expect(await find("f", "new")).toEqual({ body: "new" });
});

test("an owner who asks for much takes the place of its own answers", async () => {
  const kept = makeKeptAnswers(10_000);
  const find = (owner: string, name: string, body: string) => kept.find(owner, name, "1", answer(body));
  await find("small", "list", "theirs");
  for (let number = 0; number < 100; number++) await find("large", String(number), "x".repeat(200));
  expect(await find("small", "list", "new")).toEqual({ body: "theirs" });
  expect([await find("large", "99", "new"), await find("large", "0", "new")]).toEqual([{ body: "x".repeat(200) }, { body: "new" }]);
});
