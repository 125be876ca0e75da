import { describe, expect, it, test } from "vitest";
import type { Ping } from "../../schemas/messages/ping.ts";
import type { HeartbeatStatus, PingStatus } from "../../schemas/vocabulary.ts";
import { decidePing, type PingState } from "./decide-ping.ts";
import { predictPing } from "./predict-ping.ts";
import type { Schedule } from "./schedule.ts";

const T = Date.parse("2026-05-04T12:00:00Z");
const MINUTELY: Schedule = { scheduleType: "interval", intervalSeconds: 60, cron: null, timezone: "UTC" };
const ping = (status: PingStatus, duration_ms: number | null = null): Ping => ({ status, run_id: null, exit_code: null, duration_ms, message: null });
const state = (status: HeartbeatStatus, more: Partial<PingState> = {}): PingState => ({ status, lastPingAt: null, lastStartAt: null, nextExpectedAt: null, lastDurationMs: null, ...more });

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
    const decision = decidePing(MINUTELY, state(before), ping(status), T);
    expect(decision.state.status).toBe(after);
    expect(decision.transition).toBe(transition);
  });

  it("expects the next ping after an ok, none while down or paused", () => {
    expect(decidePing(MINUTELY, state("new"), ping("ok"), T).state.nextExpectedAt).toBe(T + 60_000);
    expect(decidePing(MINUTELY, state("up", { nextExpectedAt: T }), ping("fail"), T).state.nextExpectedAt).toBeNull();
    expect(decidePing(MINUTELY, state("paused"), ping("ok"), T).state).toMatchObject({ lastPingAt: T, nextExpectedAt: null });
  });

  it("leaves the schedule alone when a run starts", () => {
    const started = decidePing(MINUTELY, state("up", { nextExpectedAt: T + 10 }), ping("start"), T).state;
    expect(started).toMatchObject({ lastStartAt: T, lastPingAt: T, nextExpectedAt: T + 10 });
  });

  it("measures a run from its start to its ok or fail, unless the job measured it itself", () => {
    const running = state("up", { lastStartAt: T - 4_000, lastPingAt: T - 4_000 });
    expect(decidePing(MINUTELY, running, ping("ok"), T).state).toMatchObject({ lastDurationMs: 4_000, lastStartAt: null });
    expect(decidePing(MINUTELY, running, ping("fail"), T).state).toMatchObject({ lastDurationMs: 4_000, lastStartAt: null });
    expect(decidePing(MINUTELY, running, ping("ok", 3_500), T).state.lastDurationMs).toBe(3_500);
    expect(decidePing(MINUTELY, state("up", { lastDurationMs: 9 }), ping("ok"), T).state.lastDurationMs).toBeNull();
  });

  it("returns the same state for a log", () => {
    const before = state("up", { lastPingAt: T });
    expect(decidePing(MINUTELY, before, ping("log"), T + 1).state).toBe(before);
  });

  it("ignores a ping that was received well before one that counted", () => {
    const before = state("down", { lastPingAt: T });
    expect(decidePing(MINUTELY, before, ping("ok"), T - 60_000)).toEqual({ state: before, transition: null });
  });

  it("takes pings of edges whose clocks differ a little in the order of the log", () => {
    const after = decidePing(MINUTELY, state("down", { lastPingAt: T }), ping("ok"), T - 200);
    expect(after).toMatchObject({ transition: "up", state: { lastPingAt: T, nextExpectedAt: T + 60_000 } });
  });
});

describe("predictPing", () => {
  it("tells what the ping will do", () => {
    expect(predictPing({ ...MINUTELY, status: "down" }, ping("ok"), T)).toEqual({ status: "up", nextExpectedAt: T + 60_000 });
    expect(predictPing({ ...MINUTELY, status: "up" }, ping("fail"), T)).toEqual({ status: "down", nextExpectedAt: null });
    expect(predictPing({ ...MINUTELY, status: "paused" }, ping("ok"), T)).toEqual({ status: "paused", nextExpectedAt: null });
    expect(predictPing({ ...MINUTELY, status: "grace" }, ping("start"), T)).toEqual({ status: "grace", nextExpectedAt: null });
  });
});
