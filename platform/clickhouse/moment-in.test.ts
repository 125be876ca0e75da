import * as fc from "fast-check";
import { expect, test } from "vitest";
import { momentIn } from "./moment-in.ts";

test("a moment is read as Date reads it, in each way of writing it", () => {
  const moment = fc.date({ min: new Date("0000-01-01T00:00:00.000Z"), max: new Date("9999-12-31T23:59:59.999Z"), noInvalidDate: true });
  fc.assert(
    fc.property(moment, (date) => {
      const iso = date.toISOString();
      expect(momentIn(iso)).toBe(date.getTime());
      expect(momentIn(iso.slice(0, 23).replace("T", " "))).toBe(date.getTime());
      expect(momentIn(iso.slice(0, 21))).toBe(Math.floor(date.getTime() / 100) * 100);
      expect(momentIn(`${iso.slice(0, 19)}Z`)).toBe(Math.floor(date.getTime() / 1000) * 1000);
      expect(momentIn(iso.slice(0, 10))).toBe(Math.floor(date.getTime() / 86_400_000) * 86_400_000);
    }),
  );
});

test.each([
  "", "x", "2026", "2026-13-01", "2026-00-01", "2026-02-29", "1900-02-29", "2026-01-32", "2026-01-00", "2026/01/01", "2026-01-01 ", "2026-01-01 24:00:00", "2026-01-01 23:60:00", "2026-01-01 23:59:60",
  "2026-01-01_00:00:00", "2026-01-01 00:00:00.", "2026-01-01 00:00:00.1234", "2026-01-01 00:00:00,123", "2026-01-01 00:00:00+01:00", "2026-01-01 0 :00:00",
])("%s is no moment", (text) => {
  expect(momentIn(text)).toBeNaN();
});

test("leap days are those of the calendar", () => {
  for (const day of ["2024-02-29", "2000-02-29"]) expect(momentIn(day)).toBe(Date.parse(day));
});
