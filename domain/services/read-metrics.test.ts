import { describe, expect, it } from "vitest";
import { Failure } from "../../platform/failures.ts";
import { decideWindow } from "./read-metrics.ts";

const now = new Date("2026-01-31T12:00:00.000Z");
const day = 86_400_000;

describe("the window of a metrics query", () => {
  it("is the last day in steps that make 300 points", () => {
    expect(decideWindow({}, now)).toEqual({ from: now.getTime() - day, to: now.getTime(), step: 288_000 });
  });

  it("has steps of at least a second", () => {
    expect(decideWindow({ from: new Date(now.getTime() - 10_000) }, now).step).toBe(1_000);
  });

  it("takes what is asked for", () => {
    const from = new Date("2026-01-01T00:00:00Z");
    const to = new Date("2026-01-02T00:00:00Z");
    expect(decideWindow({ from, to, step: 60 }, now)).toEqual({ from: from.getTime(), to: to.getTime(), step: 60_000 });
  });

  it("stays within the years that can be stored", () => {
    const { from, to } = decideWindow({ from: new Date("0001-01-01T00:00:00Z"), to: new Date("9999-12-31T00:00:00Z") }, now);
    expect([new Date(from).getUTCFullYear(), new Date(to).getUTCFullYear()]).toEqual([1970, 2200]);
  });

  it.each([
    { name: "an empty window", query: { from: now, to: now }, path: "/from" },
    { name: "a window that ends before it begins", query: { from: now, to: new Date(now.getTime() - 1) }, path: "/from" },
    { name: "a step that makes too many points", query: { step: 1, from: new Date(now.getTime() - 7 * day) }, path: "/step" },
  ])("refuses $name and says where", ({ query, path }) => {
    expect(() => decideWindow(query, now)).toThrow(Failure);
    try {
      decideWindow(query, now);
    } catch (failure) {
      expect(failure).toMatchObject({ code: "INVALID_REQUEST", details: { path, fix: expect.any(String) } });
    }
  });
});
