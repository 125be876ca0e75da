import type { Ping } from "../../schemas/messages/ping.ts";
import type { PingMemory } from "../../schemas/tables/heartbeats.ts";
import type { HeartbeatStatus } from "../../schemas/vocabulary.ts";
import { closeRun, earliestStart, endedLately, openRun } from "./runs.ts";
import { nextExpectedAt, turnMs, type Schedule } from "./schedule.ts";
import { paceWarning, withOk } from "./watch-pace.ts";

/** What pings change of a monitor; times in ms since the epoch. */
export interface PingState {
  status: HeartbeatStatus;
  lastPingAt: number | null;
  /** The earliest start of a run in progress that was not yet found to exceed its limit. */
  lastStartAt: number | null;
  nextExpectedAt: number | null;
  lastDurationMs: number | null;
  memory: PingMemory;
  warning: string | null;
}

export interface PingDecision {
  /** The very `state` that was given when the ping changes nothing. */
  state: PingState;
  /** What is worth telling: `down` for the first fail, `up` for the first ok after it. */
  transition: "down" | "up" | null;
}

type DecidedPing = Pick<Ping, "status" | "duration_ms" | "run_id">;
type FinishPing = DecidedPing & { status: "ok" | "fail" };

/** Where and when a ping was taken. */
export interface Receipt {
  /** By the clock of the edge. */
  receivedAt: number;
  /** The edge that took it, null when unknown: what one edge took stands in the log in its order. */
  edgeId: string | null;
  /** The clock of whoever decides. */
  now: number;
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
 * - A start and an ok or fail of the same `run_id` are one run, in whatever order they come; a ping that was sent again under
 *   its run's name counts once. Without a `run_id` a finish ends the run that began last.
 * - A paused monitor notes the ping and stays paused.
 * - An ok or fail that was received before one that counted already moves neither status nor schedule: it waited in a spool, and
 *   what came after it knows better. It still ends its own run.
 */
export function decidePing(schedule: Schedule, state: PingState, ping: DecidedPing, receipt: Receipt): PingDecision {
  const unchanged: PingDecision = { state, transition: null };
  if (ping.status === "log") return unchanged;
  if (ping.status === "start") return { state: withStart(schedule, state, ping.run_id, receipt), transition: null };
  const { status, run_id: runId } = ping;
  if (runId !== null && endedLately(state.memory, runId, receipt.receivedAt, soon(schedule, state.memory, receipt))?.status === status) return unchanged;
  if (isOutdated(state.memory.last, receipt)) return { state: runId === null ? state : withOldEnd(state, { ...ping, status }, receipt.receivedAt), transition: null };
  return finish(schedule, state, { ...ping, status }, receipt);
}

function finish(schedule: Schedule, state: PingState, ping: FinishPing, receipt: Receipt): PingDecision {
  const { last } = state.memory;
  // Not outdated and dated well before the last: the clock was put back.
  const isPutBack = last !== null && receipt.receivedAt < last.at - CLOCK_SKEW_MS;
  const at = isPutBack ? receipt.receivedAt : Math.max(receipt.receivedAt, last?.at ?? 0);
  const closed = closeRun(state.memory, ping.run_id, ping.status, at);
  const memory = { ...closed.memory, last: { at, edgeId: receipt.edgeId, runId: ping.run_id } };
  const lastPingAt = isPutBack ? at : laterOf(state.lastPingAt, receipt);
  const finished = { ...state, lastPingAt, lastStartAt: earliestStart(memory), lastDurationMs: ping.duration_ms ?? durationOf(closed.run, at), memory };
  if (state.status === "paused") return { state: finished, transition: null };
  if (ping.status === "fail") return { state: { ...finished, status: "down", nextExpectedAt: null }, transition: state.status === "down" ? null : "down" };
  const oks = withOk(memory.oks, at);
  const up: PingState = { ...finished, status: "up", nextExpectedAt: nextExpectedAt(schedule, at), memory: { ...memory, oks }, warning: paceWarning(schedule, oks) };
  return { state: up, transition: state.status === "down" ? "up" : null };
}

function withStart(schedule: Schedule, state: PingState, runId: string | null, receipt: Receipt): PingState {
  const { memory } = state;
  const soonMs = soon(schedule, memory, receipt);
  const { receivedAt } = receipt;
  const own = runId === null ? null : endedLately(memory, runId, receivedAt, soonMs);
  if (own) return withLateStart(state, own, receivedAt);
  // Whether a run without a name is over by now, nobody can tell.
  if (runId === null && isOutdated(memory.last, receipt)) return state;
  const lastPingAt = laterOf(state.lastPingAt, receipt);
  const opened = openRun(memory, runId, runId === null ? lastPingAt : receivedAt, soonMs);
  return { ...state, lastPingAt, lastStartAt: earliestStart(opened), memory: opened };
}

/** The start of a run that is over: only how long it took is news, unless the job said so or another run ended since. */
function withLateStart(state: PingState, run: { id: string; finishedAt: number }, startedAt: number): PingState {
  const tells = state.lastDurationMs === null && state.memory.last?.runId === run.id && startedAt <= run.finishedAt;
  return tells ? { ...state, lastDurationMs: durationOf({ startedAt }, run.finishedAt) } : state;
}

function withOldEnd(state: PingState, { run_id: runId, status }: FinishPing, at: number): PingState {
  // Not the run without a name: it may have begun after this.
  const known = { ...state.memory, open: state.memory.open.filter(({ id }) => id === runId) };
  const others = state.memory.open.filter(({ id }) => id !== runId);
  const memory = { ...closeRun(known, runId, status, at).memory, open: others };
  return { ...state, lastStartAt: earliestStart(memory), memory };
}

/**
 * True when what counted last was received later, by another edge. An edge's own pings stand in the log in its order: one that is dated
 * earlier tells that its clock was put back. So does a last ping that is dated in the future.
 */
function isOutdated(last: PingMemory["last"], { receivedAt, edgeId, now }: Receipt): boolean {
  if (last === null || receivedAt >= last.at - CLOCK_SKEW_MS) return false;
  return !(edgeId !== null && edgeId === last.edgeId) && last.at <= now + CLOCK_SKEW_MS;
}

/** The moment of the latest ping. One that is dated in the future was dated before the clock was put back. */
function laterOf(lastPingAt: number | null, { receivedAt, now }: Receipt): number {
  return lastPingAt === null || lastPingAt > now + CLOCK_SKEW_MS ? receivedAt : Math.max(receivedAt, lastPingAt);
}

/** Within half a turn a name means the run that had it; a job that gives all its runs one name is still heard at each turn. */
function soon(schedule: Schedule, { open, over }: PingMemory, { receivedAt }: Receipt): number {
  return open.length + over.length === 0 ? 0 : turnMs(schedule, receivedAt) / 2;
}

/** Null when the clock was put back while the run was in progress. */
function durationOf(run: { startedAt: number } | null, finishedAt: number): number | null {
  if (run === null || finishedAt < run.startedAt - CLOCK_SKEW_MS) return null;
  return Math.min(Math.max(finishedAt - run.startedAt, 0), LONGEST_DURATION_MS);
}
