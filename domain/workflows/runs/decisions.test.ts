import { describe, expect, it } from "vitest";
import type { ConditionStep, WorkflowStep } from "../../../schemas/api/workflows.ts";
import { compare } from "./compare.ts";
import { after, branch, stepAt } from "./position.ts";
import { maskSecrets, redact, secretsIn } from "./redact.ts";

describe("a condition", () => {
  it.each<[unknown, ConditionStep["op"], unknown, boolean]>([
    ["a", "eq", "a", true], ["a", "eq", "A", false], [200, "eq", "200", true], ["200", "ne", 200, false], [true, "eq", "true", true], [null, "eq", "null", true],
    [5, "gt", 4, true], ["10", "gt", "9", true], [4, "gt", 4, false], ["1.5", "lt", 2, true], [-1, "lt", 0, true],
    ["checkout is down", "contains", "down", true], ["x", "contains", "y", false], [["a", "b"], "contains", "b", true], [[1, 2], "contains", "2", true], [["ab"], "contains", "a", false],
  ])("%j %s %j is %s", (left, op, right, holds) => expect(compare(left, op, right)).toBe(holds));

  it.each<[unknown, ConditionStep["op"], unknown]>([["many", "gt", 1], ["", "lt", 1], [null, "gt", 0], [5, "contains", 5], [{}, "contains", "a"], [Number.NaN, "gt", 1]])("%j %s %j cannot be compared", (left, op, right) => {
    expect(() => compare(left, op, right)).toThrow(/compares numbers|looks in/);
  });
});

describe("the way through the steps", () => {
  const wait = (seconds: number): WorkflowStep => ({ type: "wait", seconds });
  // oxlint-disable-next-line unicorn/no-thenable -- a list, never a function
  const condition = (then: WorkflowStep[], otherwise?: WorkflowStep[]): WorkflowStep => ({ type: "condition", left: "a", op: "eq", right: "a", then, ...(otherwise && { else: otherwise }) });
  const steps = [wait(1), condition([wait(2), condition([wait(3)])], [wait(4)]), wait(5), condition([wait(6)])];

  it.each([
    ["/0", "/1"], ["/1/then/0", "/1/then/1"], ["/1/then/1/then/0", "/2"], ["/1/else/0", "/2"], ["/2", "/3"], ["/3/then/0", null],
  ])("after %s comes %s", (from, to) => expect(after(steps, from)).toBe(to));

  it.each<[string, boolean, string | null]>([["/1", true, "/1/then/0"], ["/1", false, "/1/else/0"], ["/1/then/1", true, "/1/then/1/then/0"], ["/1/then/1", false, "/2"], ["/3", false, null]])("the condition at %s, being %s, leads to %s", (at, holds, to) => {
    expect(branch(steps, at, holds)).toBe(to);
  });

  it("finds steps, and nothing where there is none", () => {
    expect(stepAt(steps, "/1/then/1/then/0")).toEqual(wait(3));
    for (const nowhere of ["/4", "/0/then/0", "/1/else/1", null]) expect(stepAt(steps, nowhere)).toBeNull();
  });
});

describe("what is secret", () => {
  it("is masked by its name and found by its value, as it is and as URLs and JSON write it", () => {
    const inputs = { api_token: "hunter2/x", nested: { password: "geheim\"nis", user: "ann" }, count: 5, key: "short" };
    expect(maskSecrets(inputs)).toEqual({ api_token: "[masked]", nested: { password: "[masked]", user: "ann" }, count: 5, key: "[masked]" });
    expect(secretsIn(inputs)).toEqual(["hunter2/x", 'geheim"nis']);
    expect(redact({ error: "hunter2/x and hunter2%2Fx", body: '{"p":"geheim\\"nis"}', n: 1, list: ["hunter2/x!"] }, secretsIn(inputs))).toEqual({ error: "[masked] and [masked]", body: '{"p":"[masked]"}', n: 1, list: ["[masked]!"] });
  });

  it("masks every text when there are too many to look for", () => {
    const tokens = Array.from({ length: 101 }, (_, n) => `secret-${n}`);
    expect(redact({ url: "https://example.com/secret-5", n: 1 }, secretsIn({ tokens: { token: tokens } }))).toEqual({ url: "[masked]", n: 1 });
  });

  it("is found when it is a number, too", () => {
    const inputs = { token: 987_654_321, pin: { secret: [123_456] } };
    expect(redact({ url: "https://example.com/987654321", text: "123456" }, secretsIn(inputs))).toEqual({ url: "https://example.com/[masked]", text: "[masked]" });
  });
});
