import { describe, expect, it } from "vitest";
import { PAGE_LANGUAGES } from "../../../schemas/vocabulary.ts";
import { formatsOf } from "./formats.ts";
import { monthAfter, monthOf, monthsUntil, startOfMonth } from "../visits/months.ts";

const plain = (text: string) => text.replaceAll(/[\u00a0\u202f\u2009]/g, " ");

describe("figures", () => {
  const { percent, duration } = formatsOf("en", "UTC");

  it.each([[100, "100%"], [99.9999, "99.99%"], [99.5, "99.5%"], [0, "0%"], [0.004, "0%"], [0.29, "0.29%"], [99.99, "99.99%"]])("%d of 100 is %s: cut, never rounded up", (of100, text) => {
    expect(percent(of100)).toBe(text);
  });

  it.each([[0, "1 sec"], [59.4, "59 sec"], [60, "1 min"], [3_661, "1 hr 1 min"], [3_600, "1 hr"], [86_400, "1 day"], [90_000, "1 day 1 hr"], [86_460, "1 day"], [1e7, "115 days 17 hr"]])("%d s are %s", (seconds, text) => {
    expect(plain(duration(seconds))).toBe(text);
  });

  it("are written in every language that is shipped", () => {
    for (const language of PAGE_LANGUAGES) {
      const formats = formatsOf(language, "Asia/Kathmandu");
      const texts = [formats.moment("2026-01-31T12:00:00.000Z"), formats.range("2026-01-31T12:00:00.000Z", "2026-02-01T12:00:00.000Z"), formats.day("2026-01-31"), formats.month("2026-01"), formats.percent(99.98), formats.duration(61), formats.daysAgo(89), formats.daysAgo(0), formats.hoursAgo(24), formats.hoursAgo(0), formats.milliseconds(230), formats.count(90), formats.list(["a", "b"])];
      expect(texts.filter((text) => text === "" || /undefined|NaN|Invalid/.test(text)), language).toEqual([]);
    }
  });

  it("tell times by the clocks of the place", () => {
    expect(plain(formatsOf("en", "Asia/Kathmandu").moment("2026-01-31T23:59:00.000Z"))).toBe("Feb 1, 2026, 5:44 AM");
    expect(formatsOf("de", "America/Santiago").moment("2026-01-31T23:59:00.000Z")).toBe("31.01.2026, 20:59");
  });
});

describe("months", () => {
  it.each([
    ["2026-03", "UTC", "2026-03-01T00:00:00.000Z"],
    ["2026-04", "Europe/Berlin", "2026-03-31T22:00:00.000Z"],
    ["2026-03", "Europe/Berlin", "2026-02-28T23:00:00.000Z"],
    ["2026-01", "Pacific/Kiritimati", "2025-12-31T10:00:00.000Z"],
    ["2026-01", "America/St_Johns", "2026-01-01T03:30:00.000Z"],
  ])("%s begins in %s at %s", (month, timezone, start) => {
    expect(startOfMonth(month, timezone)).toBe(start);
    expect(monthOf(new Date(start), timezone)).toBe(month);
    expect(monthOf(new Date(Date.parse(start) - 1), timezone)).toBe(monthAfter(month, -1));
  });

  it("follow each other over the years", () => {
    expect(monthsUntil("2026-02", 4)).toEqual(["2026-02", "2026-01", "2025-12", "2025-11"]);
    expect([monthAfter("2025-12", 1), monthAfter("2026-01", -13), monthAfter("2026-05", 0)]).toEqual(["2026-01", "2024-12", "2026-05"]);
  });
});
