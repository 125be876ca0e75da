import { describe, expect, it, test } from "vitest";
import { readMetricsPush } from "./metrics-push.ts";

const service_id = "0b9f3a52-7c1e-4d8e-9a64-3f2f5c7d1e10";

describe("readMetricsPush", () => {
  it("reads the figures and ignores fields it does not know", () => {
    const metrics = { error_rate: 12, response_time_ms: 0.5, queue_depth: -3, disk_percent: 100 };
    expect(readMetricsPush({ service_id, metrics, host: "web-1" })).toEqual({ kind: "read", push: { serviceId: service_id, metrics, timestamp: null } });
  });

  it("leaves text that is no id to the look-up", () => {
    expect(readMetricsPush({ service_id: "web", metrics: { a: 1 } })).toMatchObject({ kind: "read", push: { serviceId: "web" } });
  });

  test.each([
    ["2026-05-04T12:30:00Z", "2026-05-04T12:30:00.000Z"],
    ["2026-05-04T12:30:00.123456+02:00", "2026-05-04T10:30:00.123Z"],
    ["2026-05-04T12:30:00-0530", "2026-05-04T18:00:00.000Z"],
    ["2026-05-04T12:30:00.5", "2026-05-04T12:30:00.500Z"],
    ["2026-05-04 12:30", "2026-05-04T12:30:00.000Z"],
    ["2026-05-04", "2026-05-04T00:00:00.000Z"],
  ])("reads the timestamp %s", (timestamp, expected) => {
    expect(readMetricsPush({ service_id, metrics: { a: 1 }, timestamp })).toMatchObject({ kind: "read", push: { timestamp: expected } });
  });

  test.each<[unknown, string]>([
    ["yesterday", "/timestamp"],
    ["2026-02-30T00:00:00Z", "/timestamp"],
    ["2026-05-04T25:00:00Z", "/timestamp"],
    ["2026-05-04T12:30:00+99:00", "/timestamp"],
    [1777898000, "/timestamp"],
    ["", "/timestamp"],
  ])("refuses the timestamp %j", (timestamp, path) => {
    expect(readMetricsPush({ service_id, metrics: { a: 1 }, timestamp })).toMatchObject({ kind: "invalid", code: "INVALID_REQUEST", path });
  });

  test.each<[unknown, string]>([
    [null, ""],
    [[], ""],
    ["x", ""],
    [{ metrics: { a: 1 } }, "/service_id"],
    [{ service_id: 5, metrics: { a: 1 } }, "/service_id"],
    [{ service_id }, "/metrics"],
    [{ service_id, metrics: [1] }, "/metrics"],
    [{ service_id, metrics: {} }, "/metrics"],
    [{ service_id, metrics: { error_rate: "12" } }, "/metrics/error_rate"],
    [{ service_id, metrics: { error_rate: null } }, "/metrics/error_rate"],
    [{ service_id, metrics: { error_rate: 100.1 } }, "/metrics/error_rate"],
    [{ service_id, metrics: { cpu_percent: -1 } }, "/metrics/cpu_percent"],
    [{ service_id, metrics: { x: Infinity } }, "/metrics/x"],
    [{ service_id, metrics: { "CPU/load~1": 1 } }, "/metrics/CPU~1load~01"],
    [{ service_id, metrics: { ["a".repeat(65)]: 1 } }, `/metrics/${"a".repeat(65)}`],
    [JSON.parse(`{"service_id":"${service_id}","metrics":{"__proto__":1}}`), "/metrics/__proto__"],
  ])("refuses %j with the path of the fault", (body, path) => {
    expect(readMetricsPush(body)).toMatchObject({ kind: "invalid", code: "INVALID_REQUEST", path });
  });
});
