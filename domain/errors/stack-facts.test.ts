import { describe, expect, it } from "vitest";
import { parseStack } from "./parse-stack.ts";
import { storedFrames } from "./left-out.ts";
import { factsOf, groupedByFrames } from "./stack-facts.ts";

const FRAMES = "\n    at pay (https://x.io/app.js:3:5)\n    at Array.map (<anonymous>)";

/** Stacks whose lower parts are equal while the upper ones say different things. */
const STACKS: [stack: string, message: string][] = [
  [`TypeError: 1${FRAMES}`, "1"],
  [`TypeError: 2${FRAMES}`, "2"],
  [FRAMES, ""],
  [`Error: at here (https://x.io/b.js:1:2)${FRAMES}`, "at here (https://x.io/b.js:1:2)"],
  ["pay@https://x.io/app.js:3:5", ""],
  ["Error: a@https://x.io/c.js:1:1\npay@https://x.io/app.js:3:5", "a@https://x.io/c.js:1:1"],
  ["Error: b\npay@https://x.io/app.js:3:5", "b"],
  ["\npay@https://x.io/app.js:3:5", ""],
  ["no frame at all", ""],
];

describe("factsOf", () => {
  it("gives what reading the stack gives, whatever was read before", () => {
    for (const round of [STACKS, STACKS.toReversed(), STACKS]) {
      for (const [stack, message] of round) {
        const { frames, truncated } = factsOf(stack, message);
        expect({ frames, truncated }, stack).toEqual(parseStack(stack, message));
      }
    }
  });

  it("tells types and releases of the same frames apart", () => {
    const facts = factsOf(...STACKS[0]!);
    expect(facts.culprit).toBe("pay (/app.js)");
    const groups = ["TypeError", "RangeError", "TypeError"].map((type) => groupedByFrames(facts, type)!.fingerprint);
    expect([groups[0] === groups[2], groups[0] === groups[1]]).toEqual([true, false]);
    expect(storedFrames(facts, "1.2")[0]!.unmapped_reason).toBe("no_map_for_url");
    expect(storedFrames(facts, "")[0]!.unmapped_reason).toBe("no_release");
    expect(groupedByFrames(factsOf("no frame at all", ""), "Error")).toBeNull();
  });
});
