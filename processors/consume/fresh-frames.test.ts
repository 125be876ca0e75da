import { WHOLE_RECORD } from "../../domain/dead-letters/record-dead-letters.ts";
import { expect, test } from "vitest";
import { encodeFrame } from "../../platform/event-log/frame.ts";
import { replayEdgeId } from "../../platform/event-log/replay-id.ts";
import { newId } from "../../platform/ids.ts";
import { freshFrames, placedEntries, type FreshSlice } from "./fresh-frames.ts";

const [one, two] = [newId(), newId()];

function record(offset: number, edgeId: string, sequence: number) {
  const entry = { requestNumber: 1, receivedAt: 5, detached: false, organizationId: newId(), subjectId: newId(), body: Buffer.from(`${offset}`) };
  return { offset: BigInt(offset), value: encodeFrame({ edgeId, sequence: BigInt(sequence) }, [entry, entry]) };
}

const offsets = (records: { offset: bigint }[]) => records.map(({ offset }) => Number(offset));

test("a frame that was counted before is dropped, wherever its second copy stands", () => {
  const records = [record(10, one, 4), record(11, one, 5), record(12, one, 5), record(13, two, 1), record(14, one, 6), record(15, one, 5)];
  const { fresh, sequences, broken } = freshFrames(records, (edgeId) => (edgeId === one ? 4n : undefined), "errors");
  expect(offsets(fresh)).toEqual([11, 13, 14]);
  expect(sequences).toEqual(new Map([[one, 6n], [two, 1n]]));
  expect(broken).toEqual([]);
});

test("a record that is no frame is set apart and its neighbours stay", () => {
  const { fresh, broken } = freshFrames([record(0, one, 1), { offset: 1n, value: Buffer.from("rubbish, and long enough to hold a frame's head") }, record(2, one, 2)], () => undefined, "errors");
  expect(offsets(fresh)).toEqual([0, 2]);
  expect(broken).toHaveLength(1);
  expect(broken[0]!.reason).toContain("not a frame");
});

test("what is put back for one group is passed by by the others, and counts once however often it is appended", () => {
  const replay = replayEdgeId("errors", "log", "beacons", "0", "7");
  const records = [record(0, one, 1), record(1, replay, 1), record(2, replay, 1)];
  expect(offsets(freshFrames(records, () => undefined, "errors").fresh)).toEqual([0, 1]);
  expect(offsets(freshFrames(records, () => undefined, "samples").fresh)).toEqual([0]);
  expect(replayEdgeId("errors", "log", "beacons", "0", "7")).toBe(replay);
  expect(replayEdgeId("errors", "log", "beacons", "0", "8")).not.toBe(replay);
});

test("entries know their place; those that are left out are passed over", () => {
  const slice = { partition: 3, from: 7n, to: 9n, firstKept: 7n, records: [record(7, one, 1), record(8, one, 2)], sequences: new Map(), broken: [], replays: false };
  const places = (left: FreshSlice["left"], only: number | null = null) => placedEntries([{ ...slice, left }], only).map(({ partition, offset, entryIndex }) => [partition, Number(offset), entryIndex]);
  expect(places(new Map())).toEqual([[3, 7, 0], [3, 7, 1], [3, 8, 0], [3, 8, 1]]);
  expect(places(new Map([[7n, new Map([[1, "it fails"]])]]))).toEqual([[3, 7, 0], [3, 8, 0], [3, 8, 1]]);
  expect(places(new Map([[8n, new Map([[WHOLE_RECORD, "it fails"]])]]))).toEqual([[3, 7, 0], [3, 7, 1]]);
  expect(places(new Map(), 1)).toEqual([[3, 7, 1], [3, 8, 1]]);
});

test("a frame of a newer version ends what can be processed, and is no broken one", () => {
  const newer = record(1, one, 2);
  newer.value[2] = 9;
  const { fresh, readable, newer: reason, broken } = freshFrames([record(0, one, 1), newer, record(2, one, 3)], () => undefined, "errors");
  expect(offsets(fresh)).toEqual([0]);
  expect([readable, broken.length]).toEqual([1, 0]);
  expect(reason).toContain("newer");
});
