import { expect, test } from "vitest";
import { makeKeptAnswers } from "./kept-answers.ts";

const answer = (body: string) => () => Promise.resolve({ body });

test("an answer is made once for its version, also for those who ask at the same time", async () => {
  const kept = makeKeptAnswers(10_000);
  let made = 0;
  const make = async () => ({ body: String(++made) });
  expect(await Promise.all([kept.find("a", "1", make), kept.find("a", "1", make), kept.find("b", "1", make)])).toEqual([{ body: "1" }, { body: "1" }, { body: "2" }]);
  expect(await kept.find("a", "1", make)).toEqual({ body: "1" });
  expect(await kept.find("a", "2", make)).toEqual({ body: "3" });
  // Who read its version before the change may still come with it.
  expect(await kept.find("a", "1", make)).toEqual({ body: "4" });
});

test("a failure is nobody else's answer", async () => {
  const kept = makeKeptAnswers(10_000);
  await expect(kept.find("a", "1", () => Promise.reject(new Error("away")))).rejects.toThrow("away");
  expect(await kept.find("a", "1", answer("back"))).toEqual({ body: "back" });
});

test("what was asked for longest ago goes first when there is no room", async () => {
  const kept = makeKeptAnswers(1_000);
  const big = "x".repeat(200);
  for (const name of ["a", "b"]) await kept.find(name, "1", answer(big));
  await kept.find("a", "1", answer("new"));
  await kept.find("c", "1", answer(big));
  expect(await kept.find("a", "1", answer("new"))).toEqual({ body: big });
  expect(await kept.find("b", "1", answer("new"))).toEqual({ body: "new" });
  expect(await kept.find("d", "1", answer("y".repeat(2_000)))).toEqual({ body: "y".repeat(2_000) });
  expect(await kept.find("d", "1", answer("new"))).toEqual({ body: "new" });
});
