import { expect, it } from "vitest";
import { dueOf } from "./decide-due.ts";

const at = (minute: number) => new Date(Date.UTC(2026, 0, 1, 0, minute));
const window = { status: "scheduled" as const, startsAt: at(60), endsAt: at(120), autoStart: true, autoComplete: true, notifyBeforeMinutes: 30, remindedOf: null };

it.each<[string, Partial<Parameters<typeof dueOf>[0]>, number, ReturnType<typeof dueOf>]>([
  ["long before", {}, 29, null],
  ["when it is to be reminded of", {}, 30, { kind: "reminder", message: "Starts in 30 minutes." }],
  ["a minute before", {}, 59, { kind: "reminder", message: "Starts in 1 minute." }],
  ["a day before", { notifyBeforeMinutes: 4_000, startsAt: at(2_880) }, 0, { kind: "reminder", message: "Starts in 2 days." }],
  ["reminded of already", { remindedOf: at(60) }, 40, null],
  ["reminded of, and moved", { remindedOf: at(50) }, 40, { kind: "reminder", message: "Starts in 20 minutes." }],
  ["without a reminder", { notifyBeforeMinutes: null }, 59, null],
  ["at its start", {}, 60, { kind: "status", status: "in_progress" }],
  ["at its start, to be started by hand", { autoStart: false }, 60, null],
  ["missed whole", {}, 500, { kind: "status", status: "in_progress" }],
  ["while it runs", { status: "in_progress" }, 119, null],
  ["at its end", { status: "in_progress" }, 120, { kind: "status", status: "completed" }],
  ["at its end, to be completed by hand", { status: "in_progress", autoComplete: false }, 121, null],
  ["completed", { status: "completed" }, 500, null],
  ["cancelled", { status: "cancelled" }, 60, null],
])("%s", (_name, state, minute, expected) => expect(dueOf({ ...window, ...state }, at(minute))).toEqual(expected));
