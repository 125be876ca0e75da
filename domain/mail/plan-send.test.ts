import { expect, it } from "vitest";
import { planSend } from "./plan-send.ts";

const at = new Date("2026-01-31T12:00:00Z");
const temporary = { kind: "failed", permanent: false } as const;

it.each([
  { tries: 1, result: { kind: "sent" } as const, expected: { kind: "sent" } },
  { tries: 1, result: temporary, expected: { kind: "retry", at: new Date("2026-01-31T12:01:00Z") } },
  { tries: 2, result: temporary, expected: { kind: "retry", at: new Date("2026-01-31T12:05:00Z") } },
  { tries: 3, result: temporary, expected: { kind: "retry", at: new Date("2026-01-31T12:30:00Z") } },
  { tries: 4, result: temporary, expected: { kind: "retry", at: new Date("2026-01-31T14:00:00Z") } },
  { tries: 5, result: temporary, expected: { kind: "retry", at: new Date("2026-01-31T20:00:00Z") } },
  { tries: 6, result: temporary, expected: { kind: "failed" } },
  { tries: 1, result: { kind: "failed", permanent: true } as const, expected: { kind: "failed" } },
])("after try $tries: $expected.kind", ({ tries, result, expected }) => {
  expect(planSend({ tries, result, at })).toEqual(expected);
});
