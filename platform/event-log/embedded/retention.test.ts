import { expect, test } from "vitest";
import { planCuts, type Mark } from "./retention.ts";

/** A mark at every tenth record of 10 bytes each, a second apart. */
const marks = (count: number, from = 0): Mark[] => Array.from({ length: count }, (_, index) => ({ offset: from + index * 10, at: (from / 10 + index) * 1_000, bytes: (from + index * 10) * 10 }));
const generous = { retentionBytes: 1e9, retentionMs: 1e9 };

test.each([
  ["nothing is cut within the limits", [{ marks: marks(10), consumed: 90 }], generous, [0]],
  ["too many bytes are cut from the oldest on", [{ marks: marks(10), consumed: 90 }], { ...generous, retentionBytes: 400 }, [50]],
  ["what is too old is cut", [{ marks: marks(10), consumed: 90 }], { ...generous, retentionMs: 4_500 }, [50]],
  ["what is not consumed is kept, however much and old", [{ marks: marks(10), consumed: 35 }], { retentionBytes: 0, retentionMs: 0 }, [30]],
  ["nothing is cut before any group is known", [{ marks: marks(10), consumed: 0 }], { retentionBytes: 0, retentionMs: 0 }, [0]],
  ["what follows the last mark stays, and with it the last offset", [{ marks: marks(3), consumed: 29 }], { retentionBytes: 0, retentionMs: 0 }, [20]],
  ["the limit counts over all partitions", [{ marks: marks(6), consumed: 50 }, { marks: marks(6), consumed: 50 }], { ...generous, retentionBytes: 400 }, [30, 30]],
  ["a partition that was cut before goes on from there", [{ marks: marks(5, 40), consumed: 80 }], { ...generous, retentionBytes: 200 }, [60]],
  ["an empty partition has nothing to cut", [{ marks: [], consumed: 0 }], { retentionBytes: 0, retentionMs: 0 }, [0]],
])("%s", (_, partitions, limits, cuts) => {
  expect(planCuts(partitions, limits, 10_000)).toEqual(cuts);
});
