import type { Ping } from "../../schemas/messages/ping.ts";
import type { HeartbeatStatus } from "../../schemas/vocabulary.ts";
import { nextExpectedAt, type Schedule } from "./schedule.ts";

/** What pings change of a monitor; times in ms since the epoch. */
export interface PingState {
  status: HeartbeatStatus;
  lastPingAt: number | null;
  /** Set while a run is in progress: from its start to its ok or fail. */
  lastStartAt: number | null;
  nextExpectedAt: number | null;
  lastDurationMs: number | null;
}

export interface PingDecision {
  /** The very `state` that was given when the ping changes nothing. */
  state: PingState;
  /** What is worth telling: `down` for the first fail, `up` for the first ok after it. */
  transition: "down" | "up" | null;
}

/** Clocks of two edges may differ by this much: pings so close together count in the order of the log. */
const CLOCK_SKEW_MS = 5_000;

/** What the monitor's column holds, about 24 days. */
const LONGEST_DURATION_MS = 2 ** 31 - 1;

/**
 * What a ping does to a monitor.
 *
 * - ok: up, and the next ping is expected by the schedule from now on. fail: down at once.
 * - start: a run begins; the status and the schedule stay. log: nothing.
 * - A paused monitor notes the ping and stays paused.
 * - A ping that was received before one that counted already changes nothing: it waited in a spool, and what
 *   came after it knows better.
 */
export function decidePing(schedule: Schedule, state: PingState, ping: Pick<Ping, "status" | "duration_ms">, receivedAt: number): PingDecision {
  const unchanged: PingDecision = { state, transition: null };
  if (ping.status === "log") return unchanged;
  if (state.lastPingAt !== null && receivedAt < state.lastPingAt - CLOCK_SKEW_MS) return unchanged;
  const lastPingAt = Math.max(receivedAt, state.lastPingAt ?? receivedAt);
  if (ping.status === "start") return { state: { ...state, lastPingAt, lastStartAt: lastPingAt }, transition: null };

  const lastDurationMs = ping.duration_ms ?? (state.lastStartAt === null ? null : Math.min(lastPingAt - state.lastStartAt, LONGEST_DURATION_MS));
  const finished = { ...state, lastPingAt, lastStartAt: null, lastDurationMs };
  if (state.status === "paused") return { state: finished, transition: null };
  if (ping.status === "fail") return { state: { ...finished, status: "down", nextExpectedAt: null }, transition: state.status === "down" ? null : "down" };
  return { state: { ...finished, status: "up", nextExpectedAt: nextExpectedAt(schedule, lastPingAt) }, transition: state.status === "down" ? "up" : null };
}
