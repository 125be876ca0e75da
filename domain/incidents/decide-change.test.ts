import { describe, expect, it } from "vitest";
import { INCIDENT_STATUSES } from "../../schemas/vocabulary.ts";
import { decideIncidentChange } from "./decide-change.ts";

const before = new Date("2026-01-31T11:00:00.000Z");
const at = new Date("2026-01-31T12:00:00.000Z");
const open = { title: "Payments fail", status: "investigating" as const, severity: "major" as const, resolvedAt: null, openedBy: "metrics:1", updatedAt: before };
const resolved = { ...open, status: "resolved" as const, resolvedAt: before };

describe("a change of an incident", () => {
  it.each(INCIDENT_STATUSES.flatMap((from) => INCIDENT_STATUSES.map((to) => ({ from, to }))))("may move it from $from to $to", ({ from, to }) => {
    const current = from === "resolved" ? resolved : { ...open, status: from };
    const { next } = decideIncidentChange(current, { status: to }, at);
    expect(next.status).toBe(to);
    expect(next.resolvedAt !== null).toBe(to === "resolved");
  });

  it("that resolves it sets the time and is told as resolved", () => {
    expect(decideIncidentChange(open, { status: "resolved" }, at)).toEqual({ next: { ...open, status: "resolved", resolvedAt: at, updatedAt: at }, event: "incident.resolved" });
  });

  it("of a resolved one keeps the time of its resolution and is told as updated", () => {
    expect(decideIncidentChange(resolved, { status: "resolved", title: "Payments failed" }, at)).toEqual({ next: { ...resolved, title: "Payments failed", updatedAt: at }, event: "incident.updated" });
  });

  it("that reopens it makes it a person's", () => {
    expect(decideIncidentChange(resolved, { status: "monitoring" }, at).next).toMatchObject({ resolvedAt: null, openedBy: null });
  });

  it("that leaves everything out changes only the time", () => {
    expect(decideIncidentChange(open, {}, at)).toEqual({ next: { ...open, updatedAt: at }, event: "incident.updated" });
  });

  it("never stands before the change that it follows", () => {
    const { next } = decideIncidentChange({ ...open, updatedAt: at }, {}, before);
    expect(next.updatedAt.getTime()).toBe(at.getTime() + 1);
  });
});
