import type { WindowRow } from "./read.ts";

type Due = { kind: "status"; status: "in_progress" | "completed" } | { kind: "reminder"; message: string };

type State = Pick<WindowRow, "status" | "startsAt" | "endsAt" | "autoStart" | "autoComplete" | "notifyBeforeMinutes" | "remindedOf">;

const MINUTE_MS = 60_000;

/** What the service itself has to do about a window now; null for nothing. One that was missed whole is started and then completed. */
export function dueOf({ status, startsAt, endsAt, autoStart, autoComplete, notifyBeforeMinutes, remindedOf }: State, at: Date): Due | null {
  if (status === "scheduled" && autoStart && startsAt <= at) return { kind: "status", status: "in_progress" };
  if (status === "in_progress" && autoComplete && endsAt <= at) return { kind: "status", status: "completed" };
  if (status !== "scheduled" || notifyBeforeMinutes === null || startsAt <= at || remindedOf?.getTime() === startsAt.getTime()) return null;
  const left = startsAt.getTime() - at.getTime();
  return left > notifyBeforeMinutes * MINUTE_MS ? null : { kind: "reminder", message: `Starts in ${inWords(Math.max(1, Math.round(left / MINUTE_MS)))}.` };
}

function inWords(minutes: number): string {
  if (minutes >= 2 * 1_440) return `${Math.round(minutes / 1_440)} days`;
  if (minutes >= 2 * 60) return `${Math.round(minutes / 60)} hours`;
  return minutes === 1 ? "1 minute" : `${minutes} minutes`;
}
