import type { UptimeStatus } from "../../../schemas/vocabulary.ts";
import { nextDueAt } from "../next-due.ts";

/** What one check found: `degraded` when it went well and took too long. */
export type Verdict = "up" | "degraded" | "down";

export interface UptimeState {
  status: UptimeStatus;
  /** Checks in a row that spoke against the status: above zero failed ones, below zero others. */
  contrary: number;
}

interface UptimeRules {
  id: string;
  intervalSeconds: number;
  failuresToDown: number;
  successesToUp: number;
}

export interface Decided extends UptimeState {
  event: "down" | "up" | null;
  /** Milliseconds since the epoch. */
  dueAt: number;
}

/** How soon a check that failed is made again, while it is not yet confirmed. */
const SECOND_LOOK_MS = 5_000;

/** A check's verdict, by how it went and how long that took. */
export function judgeCheck({ error, responseTimeMs }: { error: string | null; responseTimeMs: number }, degradedAfterMs: number | null): Verdict {
  if (error !== null) return "down";
  return degradedAfterMs !== null && responseTimeMs > degradedAfterMs ? "degraded" : "up";
}

/**
 * What follows from a check that ended at `now` (milliseconds since the epoch). A monitor goes down after so many failures in a row, of which
 * the later ones are looked for soon; is degraded after as many slow checks; and up again after so many good ones. A pending monitor
 * believes its first good check. A paused one stays so. While people are at work on its service it is in maintenance, whatever checks find, and
 * nobody is told; one that was down before stays so until it is well. Afterwards it is as one that is pending.
 */
export function decide(state: UptimeState, rules: UptimeRules, { verdict, inMaintenance }: { verdict: Verdict; inMaintenance: boolean }, now: number): Decided {
  const next = inMaintenance ? moveInMaintenance(state, rules, verdict) : move(state, rules, verdict);
  const unconfirmed = verdict === "down" && (next.status === "pending" || next.status === "up" || next.status === "degraded" || (next.status === "maintenance" && !inMaintenance));
  const regular = nextDueAt(rules.id, rules.intervalSeconds * 1_000, now);
  return { ...next, dueAt: unconfirmed ? Math.min(now + SECOND_LOOK_MS, regular) : regular, event: eventOf(state, next) };
}

function moveInMaintenance(state: UptimeState, rules: UptimeRules, verdict: Verdict): UptimeState {
  if (state.status === "paused") return { status: "paused", contrary: 0 };
  if (state.status !== "down") return { status: "maintenance", contrary: 0 };
  const moved = move(state, rules, verdict);
  return moved.status === "down" ? moved : { status: "maintenance", contrary: 0 };
}

function move({ status, contrary }: UptimeState, rules: UptimeRules, verdict: Verdict): UptimeState {
  if (status === "paused") return { status, contrary: 0 };
  if (status === verdict) return { status, contrary: 0 };
  if ((status === "pending" || status === "maintenance") && verdict !== "down") return { status: verdict, contrary: 0 };
  const failed = verdict === "down";
  const inRow = failed ? Math.max(contrary, 0) + 1 : Math.max(-contrary, 0) + 1;
  const needed = failed || (status === "up" && verdict === "degraded") ? rules.failuresToDown : rules.successesToUp;
  return inRow >= needed ? { status: verdict, contrary: 0 } : { status, contrary: failed ? inRow : -inRow };
}

function eventOf(before: UptimeState, after: UptimeState): Decided["event"] {
  if (before.status === after.status) return null;
  if (after.status === "down") return "down";
  return before.status === "down" ? "up" : null;
}
