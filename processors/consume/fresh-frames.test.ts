import { expect, test } from "vitest";
import { encodeFrame } from "../../platform/event-log/frame.ts";
import { replayEdgeId } from "../../platform/event-log/replay-id.ts";
import { newId } from "../../platform/ids.ts";
import { freshFrames, placedEntries } from "./fresh-frames.ts";

const [one, two] = [newId(), newId()];

function record(offset: number, edgeId: string, sequence: number) {
  const entry = { requestNumber: 1, receivedAt: 5, detached: false, organizationId: newId(), subjectId: newId(), body: Buffer.from(`${offset}`) };
  return { offset: BigInt(offset), value: encodeFrame({ edgeId, sequence: BigInt(sequence) }, [entry, entry]) };
}

const offsets = (records: { offset: bigint }[]) => records.map(({ offset }) => Number(offset));

test("a frame that was counted before is dropped, wherever its second copy stands", () => {
  const records = [record(10, one, 4), record(11, one, 5), record(12, one, 5), record(13, two, 1), record(14, one, 6), record(15, one, 5)];
  const { fresh, sequences, broken } = freshFrames(records, new Map([[one, 4n]]), "errors");
  expect(offsets(fresh)).toEqual([11, 13, 14]);
  expect(sequences).toEqual(new Map([[one, 6n], [two, 1n]]));
  expect(broken).toEqual([]);
});

test("a record that is no frame is set apart and its neighbours stay", () => {
  const { fresh, broken } = freshFrames([record(0, one, 1), { offset: 1n, value: Buffer.from("rubbish, and long enough to hold a frame's head") }, record(2, one, 2)], new Map(), "errors");
  expect(offsets(fresh)).toEqual([0, 2]);
  expect(broken).toHaveLength(1);
  expect(broken[0]!.reason).toContain("not a frame");
});

test("what is put back for one group is passed by by the others, and counts once however often it is appended", () => {
  const replay = replayEdgeId("errors", "log", "beacons", "0", "7");
  const records = [record(0, one, 1), record(1, replay, 1), record(2, replay, 1)];
  expect(offsets(freshFrames(records, new Map(), "errors").fresh)).toEqual([0, 1]);
  expect(offsets(freshFrames(records, new Map(), "samples").fresh)).toEqual([0]);
  expect(replayEdgeId("errors", "log", "beacons", "0", "7")).toBe(replay);
  expect(replayEdgeId("errors", "log", "beacons", "0", "8")).not.toBe(replay);
});

test("entries know their place", () => {
  const placed = placedEntries([record(7, one, 1), record(8, one, 2)]);
  expect(placed.map(({ offset, entryIndex }) => [Number(offset), entryIndex])).toEqual([[7, 0], [7, 1], [8, 0], [8, 1]]);
});
