import { describe, expect, it, test } from "vitest";
import type { Ping } from "../../schemas/messages/ping.ts";
import { EMPTY_MEMORY, type PingMemory } from "../../schemas/tables/heartbeats.ts";
import { HEARTBEAT_STATUSES, PING_STATUSES, type HeartbeatStatus, type PingStatus } from "../../schemas/vocabulary.ts";
import { decidePing, type PingDecision, type PingState, type Receipt } from "./decide-ping.ts";
import { predictPing } from "./predict-ping.ts";
import type { Schedule } from "./schedule.ts";

const T = Date.parse("2026-05-04T12:00:00Z");
const MINUTELY: Schedule = { scheduleType: "interval", intervalSeconds: 60, cron: null, timezone: "UTC" };
const ping = (status: PingStatus, duration_ms: number | null = null): Ping => ({ status, run_id: null, exit_code: null, duration_ms, message: null });
const state = (status: HeartbeatStatus, more: Partial<PingState> = {}): PingState => ({ status, lastPingAt: null, lastStartAt: null, nextExpectedAt: null, lastDurationMs: null, memory: EMPTY_MEMORY, warning: null, ...more });
const by = (receivedAt: number, more: Partial<Receipt> = {}): Receipt => ({ receivedAt, edgeId: "edge-a", now: receivedAt, ...more });
const remembers = (more: Partial<PingMemory>): PingMemory => ({ ...EMPTY_MEMORY, ...more });
const counted = (at: number, edgeId = "edge-a") => remembers({ last: { at, edgeId, runId: null } });

describe("decidePing", () => {
  test.each<[HeartbeatStatus, PingStatus, HeartbeatStatus, "up" | "down" | null]>([
    ["new", "ok", "up", null],
    ["up", "ok", "up", null],
    ["grace", "ok", "up", null],
    ["down", "ok", "up", "up"],
    ["paused", "ok", "paused", null],
    ["new", "fail", "down", "down"],
    ["up", "fail", "down", "down"],
    ["grace", "fail", "down", "down"],
    ["down", "fail", "down", null],
    ["paused", "fail", "paused", null],
    ["new", "start", "new", null],
    ["up", "start", "up", null],
    ["grace", "start", "grace", null],
    ["down", "start", "down", null],
    ["paused", "start", "paused", null],
    ["new", "log", "new", null],
    ["up", "log", "up", null],
    ["down", "log", "down", null],
  ])("%s and %s gives %s and tells of %s", (before, status, after, transition) => {
    const decision = decidePing(MINUTELY, state(before), ping(status), by(T));
    expect(decision.state.status).toBe(after);
    expect(decision.transition).toBe(transition);
  });

  it("expects the next ping after an ok, none while down or paused", () => {
    expect(decidePing(MINUTELY, state("new"), ping("ok"), by(T)).state.nextExpectedAt).toBe(T + 60_000);
    expect(decidePing(MINUTELY, state("up", { nextExpectedAt: T }), ping("fail"), by(T)).state.nextExpectedAt).toBeNull();
    expect(decidePing(MINUTELY, state("paused"), ping("ok"), by(T)).state).toMatchObject({ lastPingAt: T, nextExpectedAt: null });
  });

  it("leaves the schedule alone when a run starts", () => {
    const started = decidePing(MINUTELY, state("up", { nextExpectedAt: T + 10 }), ping("start"), by(T)).state;
    expect(started).toMatchObject({ lastStartAt: T, lastPingAt: T, nextExpectedAt: T + 10 });
  });

  it("measures a run from its start to its ok or fail, unless the job measured it itself", () => {
    const running = state("up", { lastStartAt: T - 4_000, lastPingAt: T - 4_000, memory: remembers({ open: [{ id: null, startedAt: T - 4_000 }] }) });
    expect(decidePing(MINUTELY, running, ping("ok"), by(T)).state).toMatchObject({ lastDurationMs: 4_000, lastStartAt: null });
    expect(decidePing(MINUTELY, running, ping("fail"), by(T)).state).toMatchObject({ lastDurationMs: 4_000, lastStartAt: null });
    expect(decidePing(MINUTELY, running, ping("ok", 3_500), by(T)).state.lastDurationMs).toBe(3_500);
    expect(decidePing(MINUTELY, state("up", { lastDurationMs: 9 }), ping("ok"), by(T)).state.lastDurationMs).toBeNull();
  });

  it("returns the same state for a log", () => {
    const before = state("up", { lastPingAt: T });
    expect(decidePing(MINUTELY, before, ping("log"), by(T + 1)).state).toBe(before);
  });

  it("ignores a ping that was received well before one that counted", () => {
    const before = state("down", { lastPingAt: T, memory: counted(T) });
    expect(decidePing(MINUTELY, before, ping("ok"), by(T - 60_000, { edgeId: "edge-b", now: T }))).toEqual({ state: before, transition: null });
  });

  it("takes pings of edges whose clocks differ a little in the order of the log", () => {
    const after = decidePing(MINUTELY, state("down", { lastPingAt: T, memory: counted(T) }), ping("ok"), by(T - 200, { edgeId: "edge-b" }));
    expect(after).toMatchObject({ transition: "up", state: { lastPingAt: T, nextExpectedAt: T + 60_000 } });
  });

  it("does not let a start outrank the ok of an edge that had to wait", () => {
    const started = state("up", { lastPingAt: T, nextExpectedAt: T, memory: remembers({ open: [{ id: null, startedAt: T }], last: { at: T - 60_000, edgeId: "edge-a", runId: null } }) });
    expect(decidePing(MINUTELY, started, ping("ok"), by(T - 10_000, { edgeId: "edge-b", now: T })).state).toMatchObject({ lastPingAt: T, nextExpectedAt: T + 50_000 });
  });
});

/** Decides pings one after the other; `second`, status, run, edge. */
function play(schedule: Schedule, from: PingState, pings: [second: number, status: PingStatus, runId: string | null, edgeId?: string][]): PingDecision & { told: string[] } {
  const told: string[] = [];
  let decision: PingDecision = { state: from, transition: null };
  let now = 0;
  for (const [second, status, run_id, edgeId] of pings) {
    now = Math.max(now, T + second * 1_000);
    decision = decidePing(schedule, decision.state, { ...ping(status), run_id }, by(T + second * 1_000, { now, ...(edgeId !== undefined && { edgeId }) }));
    if (decision.transition) told.push(decision.transition);
  }
  return { ...decision, told };
}

const HOURLY: Schedule = { ...MINUTELY, intervalSeconds: 3_600 };
const openIds = ({ state: { memory } }: PingDecision) => memory.open.map(({ id, startedAt }) => [id, (startedAt - T) / 1_000]);

describe("runs with a name", () => {
  it("pairs overlapping runs, each with its own duration and start", () => {
    const both = play(HOURLY, state("new"), [[0, "start", "1"], [10, "start", "2"]]);
    expect(openIds(both)).toEqual([["1", 0], ["2", 10]]);
    const first = play(HOURLY, both.state, [[30, "ok", "1"]]);
    expect(first.state).toMatchObject({ lastDurationMs: 30_000, lastStartAt: T + 10_000 });
    expect(play(HOURLY, first.state, [[50, "ok", "2"]]).state).toMatchObject({ lastDurationMs: 40_000, lastStartAt: null });
    expect(play(HOURLY, both.state, [[50, "ok", "2"], [60, "ok", "1"]]).state).toMatchObject({ lastDurationMs: 60_000, lastStartAt: null });
  });

  it("opens no run for a start that comes after its own finish, and takes the duration from it", () => {
    const late = play(HOURLY, state("up"), [[50, "ok", "1"], [0, "start", "1", "edge-b"]]);
    expect(late.state).toMatchObject({ status: "up", lastDurationMs: 50_000, lastStartAt: null, nextExpectedAt: T + 3_650_000 });
    expect(openIds(late)).toEqual([]);
    const another = play(HOURLY, state("up"), [[50, "ok", "1"], [60, "ok", "2"], [0, "start", "1", "edge-b"]]);
    expect(another.state.lastDurationMs).toBeNull();
  });

  it("ends its own run with a finish that had to wait, without moving the status", () => {
    const waited = play(HOURLY, state("up"), [[0, "start", "1"], [5, "start", "2"], [100, "ok", "2"], [50, "fail", "1", "edge-b"]]);
    expect(waited.state).toMatchObject({ status: "up", lastStartAt: null, lastDurationMs: 95_000, nextExpectedAt: T + 3_700_000 });
    expect(waited.told).toEqual([]);
  });

  it("counts a ping that was sent again once", () => {
    const once = play(HOURLY, state("new"), [[0, "start", "1"], [5, "start", "1"], [30, "ok", "1"]]);
    expect(once.state.lastDurationMs).toBe(30_000);
    expect(play(HOURLY, once.state, [[40, "ok", "1", "edge-b"]]).state).toBe(once.state);
    const failed = play(HOURLY, once.state, [[50, "fail", "2"], [60, "ok", "1", "edge-b"], [61, "fail", "2", "edge-b"]]);
    expect(failed).toMatchObject({ told: ["down"], state: { status: "down" } });
  });

  it("hears a job that gives all its runs one name", () => {
    const runs = Array.from({ length: 5 }, (_, n): [number, PingStatus, string][] => [[n * 3_600, "start", "nightly"], [n * 3_600 + 20 + n, "ok", "nightly"]]).flat();
    expect(play(HOURLY, state("new"), runs).state).toMatchObject({ lastPingAt: T + 14_424_000, lastDurationMs: 24_000, nextExpectedAt: T + 18_024_000, lastStartAt: null });
  });

  it("lets pings without a name finish what began under one, when it can only be that one", () => {
    expect(play(HOURLY, state("up"), [[0, "start", "1"], [9, "ok", null]]).state).toMatchObject({ lastDurationMs: 9_000, lastStartAt: null });
    expect(play(HOURLY, state("up"), [[0, "start", null], [9, "ok", "1"]]).state).toMatchObject({ lastDurationMs: 9_000, lastStartAt: null });
    expect(openIds(play(HOURLY, state("up"), [[0, "start", "1"], [1, "start", "2"], [9, "ok", null]]))).toEqual([["1", 0], ["2", 1]]);
  });

  it("remembers twenty runs in progress and twenty that are over", () => {
    const many = play(HOURLY, state("up"), Array.from({ length: 50 }, (_, n) => [n, "start", `r${n}`]));
    expect(openIds(many)).toHaveLength(20);
    expect(many.state.lastStartAt).toBe(T + 30_000);
    expect(play(HOURLY, many.state, Array.from({ length: 50 }, (_, n) => [100 + n, "ok", `r${n}`])).state.memory).toMatchObject({ open: [], over: { length: 20 } });
  });

  it("forgets a run that exceeded its limit once a later one is well", () => {
    const hung = state("down", { memory: remembers({ open: [{ id: "1", startedAt: T, overrun: T + 30_000 }] }) });
    expect(openIds(play(HOURLY, hung, [[60, "start", "2"], [70, "ok", "2"]]))).toEqual([]);
    expect(play(HOURLY, hung, [[60, "ok", "1"]])).toMatchObject({ told: ["up"], state: { status: "up", lastDurationMs: 60_000 } });
  });
});

describe("clocks that are put back", () => {
  it("hears pings of the edge whose clock was put back by an hour", () => {
    const before = state("up", { lastPingAt: T, nextExpectedAt: T + 60_000, memory: counted(T, "edge-a") });
    const after = decidePing(MINUTELY, before, ping("ok"), by(T - 3_540_000, { edgeId: "edge-a", now: T + 60_000 }));
    expect(after.state).toMatchObject({ lastPingAt: T - 3_540_000, nextExpectedAt: T - 3_480_000 });
  });

  it("hears every edge when all clocks were put back", () => {
    const before = state("up", { lastPingAt: T, nextExpectedAt: T + 60_000, memory: counted(T, "edge-a") });
    const back = T - 3_540_000;
    expect(decidePing(MINUTELY, before, ping("ok"), by(back, { edgeId: "edge-b", now: back })).state).toMatchObject({ lastPingAt: back, nextExpectedAt: back + 60_000 });
    expect(decidePing(MINUTELY, before, ping("fail"), by(back, { edgeId: "edge-b", now: back })).transition).toBe("down");
  });

  it("measures no run that it cannot measure", () => {
    const running = play(HOURLY, state("up"), [[3_600, "start", "1"]]);
    expect(decidePing(HOURLY, running.state, { ...ping("ok"), run_id: "1" }, by(T + 60_000)).state).toMatchObject({ lastDurationMs: null, lastStartAt: null });
  });
});

describe("pings that come too often", () => {
  const CRON: Schedule = { scheduleType: "cron", intervalSeconds: null, cron: "0 9-17 * * *", timezone: "UTC" };
  const SENTENCE = "Pings come every 10 s; a ping is expected every 3600 s: check the job's schedule.";

  test.each<[string, Schedule, number[], string | null]>([
    ["two are a retry by hand", HOURLY, [0, 10], null],
    ["three within a third of the interval", HOURLY, [0, 10, 20], SENTENCE],
    ["three of a cron schedule, judged by its shortest gap", CRON, [0, 10, 20], SENTENCE],
    ["three that take a third of the interval", HOURLY, [0, 600, 1_200], null],
    ["regular ones", HOURLY, [0, 3_600, 7_190, 10_800], null],
    ["the last ones before a pause of the night", CRON, [15_000, 18_000, 18_300], null],
    ["a warning that ends with the first regular ping", HOURLY, [0, 10, 20, 3_620], null],
    ["oftener than once a second", MINUTELY, [0, 0, 0], "Pings come oftener than once a second; a ping is expected every 60 s: check the job's schedule."],
  ])("%s", (_, schedule, seconds, warning) => {
    expect(play(schedule, state("up"), seconds.map((second) => [second, "ok", null])).state.warning).toBe(warning);
  });

  it("is not about starts, logs and repeated pings, and tells nobody", () => {
    const { state: after, told } = play(HOURLY, state("up"), [[0, "start", "1"], [1, "log", "1"], [2, "ok", "1"], [3, "ok", "1"], [4, "ok", "1"], [5, "ok", null]]);
    expect(after.warning).toBeNull();
    expect(told).toEqual([]);
  });
});

describe("predictPing", () => {
  it("says what is decided of a monitor without a past", () => {
    for (const status of HEARTBEAT_STATUSES) {
      for (const sent of PING_STATUSES) {
        const decided = decidePing(MINUTELY, state(status), ping(sent), by(T)).state;
        const { nextExpectedAt } = decided;
        const predicted = predictPing({ ...MINUTELY, status }, ping(sent), T);
        expect({ sent, ...predicted }).toEqual({ sent, status: decided.status, nextExpectedAt });
      }
    }
  });

  it("tells what the ping will do", () => {
    expect(predictPing({ ...MINUTELY, status: "down" }, ping("ok"), T)).toEqual({ status: "up", nextExpectedAt: T + 60_000 });
    expect(predictPing({ ...MINUTELY, status: "up" }, ping("fail"), T)).toEqual({ status: "down", nextExpectedAt: null });
    expect(predictPing({ ...MINUTELY, status: "paused" }, ping("ok"), T)).toEqual({ status: "paused", nextExpectedAt: null });
    expect(predictPing({ ...MINUTELY, status: "grace" }, ping("start"), T)).toEqual({ status: "grace", nextExpectedAt: null });
    const seconds: Schedule = { scheduleType: "cron", intervalSeconds: null, cron: "30 15 2 * * *", timezone: "Europe/Berlin" };
    expect(predictPing({ ...seconds, status: "up" }, ping("ok"), Date.parse("2026-03-28T12:00:00Z"))).toEqual({ status: "up", nextExpectedAt: Date.parse("2026-03-29T01:15:30Z") });
  });
});
