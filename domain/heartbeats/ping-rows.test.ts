import { expect, it } from "vitest";
import type { FrameEntry } from "../../platform/event-log/frame.ts";
import { pingRow } from "./ping-rows.ts";

const entry = (body: string): FrameEntry => ({
  requestNumber: 0,
  receivedAt: Date.parse("2026-05-04T12:00:00.007Z"),
  detached: true,
  organizationId: "11111111-1111-4111-8111-111111111111",
  subjectId: "22222222-2222-4222-8222-222222222222",
  body: Buffer.from(body),
});
const place = { logId: "log-1", partition: 3, offset: 2n ** 60n, index: 4 };

it("makes the same row of the same entry", () => {
  const row = pingRow(place, entry('{"status":"ok","run_id":"r","exit_code":2,"duration_ms":5,"message":"m"}'));
  expect(row).toEqual({
    log_id: "log-1",
    partition: 3,
    offset: "1152921504606846976",
    index: 4,
    organization_id: "11111111-1111-4111-8111-111111111111",
    monitor_id: "22222222-2222-4222-8222-222222222222",
    received_at: "2026-05-04 12:00:00.007",
    status: "fail",
    run_id: "r",
    exit_code: 2,
    duration_ms: 5,
    message: "m",
  });
});

it("makes a row of an empty body, and none of one that cannot be read", () => {
  expect(pingRow(place, entry(""))).toMatchObject({ status: "ok", run_id: "", exit_code: null, duration_ms: null, message: "" });
  expect(pingRow(place, entry("nonsense"))).toBeNull();
});
