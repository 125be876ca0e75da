import { expect, test } from "vitest";
import type { BeaconEventRow } from "../../schemas/messages/beacon-event-row.ts";
import { rowsOfBody } from "./rows-of-body.ts";
import { makeDetailSampler } from "./sample-details.ts";

function rows(message: string, count: number, minute: number): BeaconEventRow[] {
  const event = { type: "error", error_type: "E", message, stack: "E: x\n    at a (https://x.example/a.js:1:1)", tags: { a: "b" }, url: "https://x.example/", breadcrumbs: [1], causes: [{ message: "c" }] };
  const entry = { body: Buffer.from(JSON.stringify({ key: "k", session_id: "s", events: [{ ...event, error_type: message }] })), receivedAt: Date.UTC(2026, 0, 1, 0, minute), organizationId: "o", serviceId: "s" };
  const place = { logId: "l", partition: 0, offset: 0n, edgeId: "e", sequence: 0n, entryIndex: 0, firstIndex: 0 };
  return Array.from({ length: count }, () => rowsOfBody(entry, place)[0]!);
}

test("a spike keeps so many details a minute and some of the rest, and every row", () => {
  const { sample } = makeDetailSampler();
  const spike = rows("spike", 1_000, 0);
  const other = rows("other", 10, 0);
  sample([...spike.slice(0, 500), ...other, ...spike.slice(500)], 100);
  expect(spike.slice(0, 100).every(({ detailed }) => detailed)).toBe(true);
  expect(spike.filter(({ detailed }) => detailed)).toHaveLength(109);
  expect(other.every(({ detailed, stack }) => detailed && stack !== "")).toBe(true);
  const [left] = spike.slice(150);
  expect(left).toMatchObject({ stack: "", frames: "", grouping_parts: "", causes: "[]", breadcrumbs: "[]", tags: {}, url: "", session_id: "s", error_type: "spike", signature_id: spike[0]!.signature_id });
});

test("each minute begins anew, and a figure of 0 keeps only the sample", () => {
  const { sample } = makeDetailSampler();
  const [first, second, none] = [rows("spike", 20, 0), rows("spike", 20, 1), rows("spike", 200, 2)];
  sample(first, 10);
  sample(second, 10);
  sample(none, 0);
  expect([first, second, none].map((some) => some.filter(({ detailed }) => detailed).length)).toEqual([10, 10, 2]);
});
