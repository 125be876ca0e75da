import { expect, test } from "vitest";
import { SOURCE_MAP_STORAGE_BYTES } from "../../schemas/plans.ts";
import { storageRefusal } from "./require-storage.ts";

const { pro, team } = SOURCE_MAP_STORAGE_BYTES;

test("up to what a plan allows there is room, and beyond it the refusal says how much is used and allowed", () => {
  expect([storageRefusal("pro", pro), storageRefusal("team", team)]).toEqual([null, null]);
  expect(storageRefusal("pro", pro + 1)).toMatchObject({
    code: "PLAN_LIMIT",
    message: "The pro plan allows 5 GiB of source maps as they are stored; with this one they take 5.001 GiB.",
    details: { path: "/file", fix: "Delete the maps of releases that nobody uses any more, or change to the team plan, which allows 50 GiB." },
  });
});

test("a larger plan is named only where it would do", () => {
  expect(storageRefusal("pro", team + 1)!.details.fix).toBe("Delete the maps of releases that nobody uses any more.");
  expect(storageRefusal("team", team + 1)!.details.fix).toBe("Delete the maps of releases that nobody uses any more.");
});
