import { randomBytes } from "node:crypto";
import { expect, it } from "vitest";
import { encodeFrame, type FrameEntry } from "../../platform/event-log/frame.ts";
import { newId } from "../../platform/ids.ts";
import { makeIntake } from "./intake.ts";

const LIMITS = { entries: 100, bytes: 1_000_000 };

function frame(entries: number): Buffer {
  const entry: FrameEntry = { requestNumber: 1, receivedAt: 0, detached: false, organizationId: newId(), subjectId: newId(), body: Buffer.from("{}") };
  return encodeFrame({ edgeId: newId(), sequence: 1n }, Array.from({ length: entries }, () => entry));
}

/** How many of these records the first batch takes. */
function takenOf(values: Buffer[], recordsOf = Infinity): number {
  const intake = makeIntake();
  const records = values.map((value, at) => ({ offset: BigInt(at), value, timestamp: 0 }));
  void intake.offer({ partition: 0, records, end: BigInt(values.length), owned: () => true, keepAlive: async () => undefined });
  return intake.take(LIMITS, () => true, () => recordsOf).get(0)?.length ?? 0;
}

it.each<[string, Buffer[], number | undefined, number]>([
  ["as many as its limit of entries", [frame(40), frame(40), frame(40)], undefined, 2],
  ["one that is beyond the limit by itself", [frame(200), frame(1)], undefined, 1],
  ["no more than it may of a partition", [frame(1), frame(1)], 1, 1],
  ["records that are no frames, whatever number they seem to name", [frame(40), Buffer.from("poison 1"), Buffer.from("poison 1234"), Buffer.alloc(500, 0xff), Buffer.alloc(0), frame(40)], undefined, 6],
  ["bytes of any kind by what they could hold", Array.from({ length: 20 }, () => randomBytes(200)), undefined, 20],
])("takes %s", (_, values, recordsOf, taken) => {
  expect(takenOf(values, recordsOf)).toBe(taken);
});
