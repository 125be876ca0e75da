import { expect, it } from "vitest";
import { readRetryAfter } from "./retry-after.ts";

const at = new Date("2026-01-31T12:00:00.000Z");

it.each([
  ["120", "2026-01-31T12:02:00.000Z"],
  ["0", "2026-01-31T12:00:00.000Z"],
  [" 7 ", "2026-01-31T12:00:07.000Z"],
  ["99999999999999999999", "2026-03-02T12:00:00.000Z"],
  ["Sat, 31 Jan 2026 12:10:00 GMT", "2026-01-31T12:10:00.000Z"],
  ["Saturday, 31-Jan-26 12:10:00 GMT", "2026-01-31T12:10:00.000Z"],
  ["Sat Jan 31 12:10:00 2026", "2026-01-31T12:10:00.000Z"],
  ["Sun, 06 Nov 1994 08:49:37 GMT", "1994-11-06T08:49:37.000Z"],
])("reads %j", (header, moment) => expect(readRetryAfter(header, at)).toEqual(new Date(moment)));

it.each([undefined, "", "soon", "-5", "1.5", "2026-01-31", "10s", "Sat, 99 Jan 2026 12:10:00 GMT", "1, 2"])("takes nothing from %j", (header) => expect(readRetryAfter(header, at)).toBeNull());

it("takes the first of several", () => expect(readRetryAfter(["60", "9"], at)).toEqual(new Date("2026-01-31T12:01:00.000Z")));
