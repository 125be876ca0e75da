import { expect, it } from "vitest";
import { hashCode, isRightCode, newCode } from "./confirmation-code.ts";

const sentAt = new Date("2026-01-01T00:00:00Z");
const after = (ms: number) => new Date(sentAt.getTime() + ms);
const sent = { codeHash: hashCode("a", "012345"), codeSentAt: sentAt, codeTries: 0 };

it.each([
  ["the code itself", sent, "a", "012345", 0, true],
  ["after 15 minutes", sent, "a", "012345", 900_000, true],
  ["later", sent, "a", "012345", 900_001, false],
  ["another code", sent, "a", "012346", 0, false],
  ["another's code", sent, "b", "012345", 0, false],
  ["after four wrong tries", { ...sent, codeTries: 4 }, "a", "012345", 0, true],
  ["after five", { ...sent, codeTries: 5 }, "a", "012345", 0, false],
  ["when none was sent", { codeHash: null, codeSentAt: null, codeTries: 0 }, "a", "012345", 0, false],
])("%s", (_, known, subject, code, ms, right) => {
  expect(isRightCode(known, { subject, code, at: after(ms) })).toBe(right);
});

it("has six digits", () => {
  for (let n = 0; n < 100; n++) expect(newCode()).toMatch(/^\d{6}$/);
});
