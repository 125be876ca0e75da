import { describe, expect, it } from "vitest";
import { decideMerge, type Mergeable } from "./decide-merge.ts";

const at = (hour: number) => new Date(Date.UTC(2026, 0, 1, hour));
const base: Mergeable = { occurrences: 10, firstSeen: at(1), lastSeen: at(5), release: "1.0.0", environment: "production", status: "new", resolvedAt: null, resolvedInRelease: null, ignoreUntil: null, ignoreUntilOccurrences: null };
const resolved = (hour: number, more: Partial<Mergeable> = {}): Mergeable => ({ ...base, status: "resolved", resolvedAt: at(hour), ...more });
const ignored: Mergeable = { ...base, status: "ignored" };

describe("two signatures as one", () => {
  it("have all their events, the first's release and the whole time between", () => {
    const later = { ...base, occurrences: 3, firstSeen: at(3), lastSeen: at(9), release: "2.0.0", environment: "staging" };
    const expected = { occurrences: 13, firstSeen: at(1), lastSeen: at(9), release: "1.0.0", environment: "production" };
    expect(decideMerge(base, later)).toMatchObject(expected);
    expect(decideMerge(later, base)).toMatchObject(expected);
  });

  it.each<[string, Mergeable, Mergeable, Partial<Mergeable>]>([
    ["both new", base, base, { status: "new" }],
    ["new and regressed", base, { ...base, status: "regressed" }, { status: "regressed" }],
    ["resolved, and new before it", resolved(6), base, { status: "resolved", resolvedAt: at(6) }],
    ["resolved, and new after it", resolved(2), base, { status: "regressed", resolvedAt: at(2) }],
    ["resolved in a release, and new in an earlier one", resolved(2, { resolvedInRelease: "1.1.0" }), base, { status: "resolved", resolvedInRelease: "1.1.0" }],
    ["resolved in a release, and new in a later one", resolved(2, { resolvedInRelease: "0.9.0" }), base, { status: "regressed" }],
    ["both resolved: the later one", resolved(2), resolved(4), { status: "resolved", resolvedAt: at(4) }],
    ["resolved and regressed", resolved(6), { ...base, status: "regressed" }, { status: "regressed" }],
    ["resolved and ignored", resolved(6), ignored, { status: "ignored", resolvedAt: null }],
    ["ignored and new", ignored, base, { status: "ignored" }],
    ["ignored and regressed", ignored, { ...base, status: "regressed" }, { status: "regressed" }],
    ["ignored until a total, which the other's events do not use up", { ...ignored, ignoreUntilOccurrences: 12 }, base, { status: "ignored", ignoreUntilOccurrences: 22 }],
    ["ignored for ever and until a moment", ignored, { ...ignored, ignoreUntil: at(9) }, { status: "ignored", ignoreUntil: at(9) }],
  ])("%s, either way round", (_name, one, other, expected) => {
    expect(decideMerge(one, other)).toMatchObject(expected);
    expect(decideMerge(other, one)).toMatchObject(expected);
  });
});
