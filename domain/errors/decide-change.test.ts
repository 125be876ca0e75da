import { describe, expect, test } from "vitest";
import type { ChangeErrorStatus } from "../../schemas/api/errors.ts";
import { decideChange, type StatusColumns } from "./decide-change.ts";

const NOW = new Date("2026-01-31T12:00:00Z");
const BEFORE = new Date("2026-01-01T00:00:00Z");
const LATER = new Date("2026-03-01T00:00:00Z");
const none = { resolvedAt: null, resolvedInRelease: null, ignoreUntil: null, ignoreUntilOccurrences: null };
const fresh: StatusColumns = { status: "new", ...none };
const resolved: StatusColumns = { ...none, status: "resolved", resolvedAt: BEFORE, resolvedInRelease: "1" };
const ignored: StatusColumns = { ...none, status: "ignored", ignoreUntil: LATER, ignoreUntilOccurrences: 50 };

describe("decideChange", () => {
  test.each<[string, StatusColumns, ChangeErrorStatus, StatusColumns]>([
    ["resolves now", fresh, { status: "resolved" }, { ...none, status: "resolved", resolvedAt: NOW }],
    ["resolves in a release", fresh, { status: "resolved", resolved_in_release: "2" }, { ...none, status: "resolved", resolvedAt: NOW, resolvedInRelease: "2" }],
    ["keeps the moment and the release of what is resolved", resolved, { status: "resolved" }, resolved],
    ["changes the release of what is resolved", resolved, { status: "resolved", resolved_in_release: "2" }, { ...resolved, resolvedInRelease: "2" }],
    ["takes the release away", resolved, { status: "resolved", resolved_in_release: null }, { ...resolved, resolvedInRelease: null }],
    ["resolves anew what came back", { ...resolved, status: "regressed" }, { status: "resolved" }, { ...none, status: "resolved", resolvedAt: NOW }],
    ["ignores for good", resolved, { status: "ignored" }, { ...none, status: "ignored" }],
    ["ignores for more events than there were", fresh, { status: "ignored", ignore_until_occurrences: 5 }, { ...none, status: "ignored", ignoreUntilOccurrences: 15 }],
    ["keeps the condition that is left out", ignored, { status: "ignored", ignore_until: null }, { ...ignored, ignoreUntil: null }],
    ["reopens", ignored, { status: "new" }, fresh],
  ])("%s", (_, before, patch, expected) => {
    expect(decideChange({ ...before, occurrences: 10 }, patch, NOW)).toEqual(expected);
  });
});
