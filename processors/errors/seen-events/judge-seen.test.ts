import { expect, test } from "vitest";
import { makeCountedIds, withoutRepeated } from "./judge-seen.ts";

const row = (index: number, id: string, minute: number, given = true, service = "s") => ({
  log_id: "log", partition: 0, offset: "7", index, service_id: service, event_id: id, event_id_given: given,
  received_at: `2026-01-01 ${String(10 + Math.floor(minute / 60)).padStart(2, "0")}:${String(minute % 60).padStart(2, "0")}:00.000`,
});
const ten = Date.UTC(2026, 0, 1, 10);
const left = (rows: ReturnType<typeof row>[]): number[] => rows.map(({ index }) => index);

test("the first of an id in a service and hour counts, and every row without an id of its own", () => {
  const rows = [row(0, "a", 0), row(1, "a", 59), row(2, "a", 60), row(3, "a", 0, false), row(4, "b", 0), row(5, "a", 0, true, "other"), row(6, "b", 1)];
  expect(left(withoutRepeated(rows, makeCountedIds()))).toEqual([0, 2, 3, 4, 5]);
});

test("a row is dropped for what stands before or after it within the hour, but not for itself", () => {
  const counted = makeCountedIds();
  counted.add({ service_id: "s", event_id: "a", receivedAt: ten, place: "log/0/7/0" });
  counted.add({ service_id: "s", event_id: "b", receivedAt: ten, place: "log/overflow/0/7/1" });
  counted.add({ service_id: "s", event_id: "c", receivedAt: ten + 90 * 60_000, place: "log/0/9/1" });
  const rows = [row(0, "a", 0), row(1, "b", 30), row(2, "c", 31), row(3, "c", 30), row(4, "a", 5)];
  expect(left(withoutRepeated(rows, counted))).toEqual([0, 3]);
});

test("a dropped row does not count: what repeats only it is kept", () => {
  const counted = makeCountedIds();
  counted.add({ service_id: "s", event_id: "a", receivedAt: ten, place: "elsewhere" });
  expect(left(withoutRepeated([row(0, "a", 50), row(1, "a", 100)], counted))).toEqual([1]);
});
