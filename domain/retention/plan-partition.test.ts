import { describe, expect, it, test } from "vitest";
import { cutoffOf, partitionBounds, planPartition } from "./plan-partition.ts";

const at = (text: string) => Date.parse(`${text}Z`);
const now = new Date("2026-05-20T13:45:00Z");

test.each([
  [30, "2026-04-20T00:00"],
  [3, "2026-05-17T00:00"],
  [2, "2026-05-18T00:00"],
  [1, "2026-05-18T00:00"],
  [730, "2024-05-20T00:00"],
])("what is kept for %i days goes when it is from before %s", (days, cutoff) => expect(cutoffOf(days, now)).toBe(at(cutoff)));

it("never reaches rows of the last two days, at any hour", () => {
  for (let hour = 0; hour < 48; hour++) {
    const moment = new Date(now.getTime() + hour * 3_600_000);
    expect(moment.getTime() - cutoffOf(1, moment)).toBeGreaterThanOrEqual(2 * 86_400_000);
  }
});

test.each([
  ["202605", { from: at("2026-05-01T00:00"), until: at("2026-06-01T00:00") }],
  ["202512", { from: at("2025-12-01T00:00"), until: at("2026-01-01T00:00") }],
  ["all", { from: -Infinity, until: Infinity }],
])("partition %s has its month's bounds", (id, bounds) => expect(partitionBounds(id)).toEqual(bounds));

describe("a partition", () => {
  const days = new Map([["week", 7], ["other week", 7], ["month", 30], ["years", 730]]);
  const plan = (partitionId: string, ...holders: [string, string][]) => planPartition({ partitionId, holders: holders.map(([id, oldest]) => ({ id, oldest: at(oldest) })), days, now });

  it.each<[string, ReturnType<typeof plan>, ReturnType<typeof plan>]>([
    ["is kept while nothing in it is too old", plan("202605", ["month", "2026-05-01T00:00"], ["week", "2026-05-13T00:00"]), { kind: "keep" }],
    ["is kept when it is empty", plan("202401"), { kind: "keep" }],
    ["is dropped when its month is over for all in it", plan("202603", ["week", "2026-03-02T00:00"], ["month", "2026-03-02T00:00"]), { kind: "drop" }],
    ["is not dropped while its month is not over, though all its rows are too old", plan("202604", ["month", "2026-04-02T00:00"]), { kind: "delete", expired: [{ before: at("2026-04-20T00:00"), holders: ["month"] }] }],
    ["keeps the rows of who keeps longer", plan("202603", ["week", "2026-03-02T00:00"], ["years", "2026-03-02T00:00"]), { kind: "delete", expired: [{ before: at("2026-05-13T00:00"), holders: ["week"] }] }],
    ["names together who has the same bound", plan("202605", ["week", "2026-05-12T23:59"], ["years", "2026-05-01T00:00"], ["other week", "2026-05-02T00:00"]), { kind: "delete", expired: [{ before: at("2026-05-13T00:00"), holders: ["week", "other week"] }] }],
    ["is not dropped while it has rows of somebody unknown", plan("202603", ["week", "2026-03-02T00:00"], ["unknown", "2026-03-02T00:00"]), { kind: "delete", expired: [{ before: at("2026-05-13T00:00"), holders: ["week"] }] }],
    ["of somebody unknown goes after 730 days", plan("202404", ["unknown", "2024-04-02T00:00"]), { kind: "drop" }],
    ["without a month is never dropped", plan("all", ["week", "2026-03-02T00:00"]), { kind: "delete", expired: [{ before: at("2026-05-13T00:00"), holders: ["week"] }] }],
  ])("%s", (_, found, expected) => expect(found).toEqual(expected));
});
