import * as fc from "fast-check";
import { expect, test } from "vitest";
import { newId } from "../ids.ts";
import { decodeFrame, decodeHead, encodeFrame, entrySize, NewerFrame, type FrameEntry } from "./frame.ts";

const entries = fc.array(
  fc.record<FrameEntry>({
    requestNumber: fc.nat(0xffff_ffff),
    receivedAt: fc.double({ min: 0, max: 8.64e15, noNaN: true }),
    detached: fc.boolean(),
    organizationId: fc.uuid(),
    subjectId: fc.uuid(),
    body: fc.uint8Array({ maxLength: 300 }),
  }),
  { maxLength: 20 },
);

const plain = (entry: FrameEntry) => ({ ...entry, body: Buffer.from(entry.body).toString("hex") });

test("a frame gives back what went in", () => {
  fc.assert(
    fc.property(fc.uuid(), fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }), entries, (edgeId, sequence, given) => {
      const frame = encodeFrame({ edgeId, sequence }, given);
      expect(frame.byteLength).toBe(32 + given.reduce((sum, { body }) => sum + entrySize(body.byteLength), 0));
      expect(decodeHead(frame)).toEqual({ edgeId, sequence, entries: given.length });
      const decoded = decodeFrame(frame);
      expect(decoded.head).toEqual({ edgeId, sequence });
      expect(decoded.entries.map(plain)).toEqual(given.map(plain));
    }),
  );
});

test("a frame that lies inside a larger buffer reads the same, and its bodies are views", () => {
  const entry = { requestNumber: 7, receivedAt: 1.5, detached: true, organizationId: newId(), subjectId: newId(), body: Buffer.from("{}") };
  const frame = encodeFrame({ edgeId: newId(), sequence: 1n }, [entry]);
  const within = Buffer.concat([Buffer.from("before"), frame, Buffer.from("after")]).subarray(6, 6 + frame.byteLength);
  const [read] = decodeFrame(within).entries;
  expect(Buffer.from(read!.body).toString()).toBe("{}");
  expect(read!.body.buffer).toBe(within.buffer);
});

test("bytes that are no frame are refused with the reason", () => {
  const frame = encodeFrame({ edgeId: newId(), sequence: 1n }, [{ requestNumber: 1, receivedAt: 1, detached: false, organizationId: newId(), subjectId: newId(), body: Buffer.alloc(40) }]);
  expect(() => decodeFrame(Buffer.alloc(0))).toThrow("not a frame");
  expect(() => decodeFrame(Buffer.alloc(100))).toThrow("not a frame");
  expect(() => decodeFrame(Buffer.from(frame).fill(0, 2, 3))).toThrow("not a frame");
});

test.each([
  ["a layout version", 2, 3, "frame layout version 3 is newer than this Pharos understands (1); start a newer version"],
  ["a compression", 3, 1, "frame compression 1 is not known to this Pharos (0); start a newer version"],
])("a frame of a newer Pharos is told apart from bytes that are no frame: %s", (_what, at, value, sentence) => {
  const frame = encodeFrame({ edgeId: newId(), sequence: 1n }, []);
  frame[at] = value;
  for (const decode of [decodeHead, decodeFrame]) {
    let thrown: unknown;
    try {
      decode(frame);
    } catch (error) {
      thrown = error;
    }
    expect(thrown).toBeInstanceOf(NewerFrame);
    expect((thrown as NewerFrame).message).toBe(sentence);
  }
  expect(() => decodeHead(frame.subarray(0, 31))).toThrow("not a frame");
});

test("a frame cut short anywhere is refused, never half read", () => {
  const body = Buffer.from("0123456789");
  const whole = encodeFrame({ edgeId: newId(), sequence: 1n }, [1, 2].map((requestNumber) => ({ requestNumber, receivedAt: 1, detached: false, organizationId: newId(), subjectId: newId(), body })));
  for (let length = 0; length < whole.byteLength; length++) expect(() => decodeFrame(whole.subarray(0, length)), `at ${length}`).toThrow(/not a frame|cut short/);
});
