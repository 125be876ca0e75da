import { expect, it, test } from "vitest";
import type { FrameEntry } from "../../platform/event-log/frame.ts";
import { sampleRows } from "./sample-rows.ts";

const serviceId = "22222222-2222-4222-8222-222222222222";
const entry = (body: unknown): FrameEntry => ({
  requestNumber: 7,
  receivedAt: Date.parse("2026-05-04T12:00:00Z"),
  detached: false,
  organizationId: "11111111-1111-4111-8111-111111111111",
  subjectId: serviceId,
  body: Buffer.from(typeof body === "string" ? body : JSON.stringify(body)),
});
const place = { logId: "log-1", partition: 0, offset: 9n, firstIndex: 10 };

it("makes one row for each figure, each with a place of its own", () => {
  expect(sampleRows(place, entry({ service_id: serviceId, metrics: { error_rate: 1.5, queue_depth: 3 } }))).toEqual(
    [
      ["error_rate", 1.5, 10],
      ["queue_depth", 3, 11],
    ].map(([name, value, index]) => ({
      log_id: "log-1",
      partition: 0,
      offset: "9",
      index,
      organization_id: "11111111-1111-4111-8111-111111111111",
      service_id: serviceId,
      name,
      value,
      received_at: "2026-05-04 12:00:00.000",
      reported_at: "2026-05-04 12:00:00.000",
    })),
  );
});

test.each([
  ["2026-05-04T11:00:00+01:00", "2026-05-04 10:00:00.000"],
  ["1970-01-01T00:00:00Z", "1970-01-01 00:00:00.000"],
  ["0001-01-01T00:00:00Z", "1900-01-01 00:00:00.000"],
  ["9999-12-31T00:00:00Z", "2299-12-31 00:00:00.000"],
])("keeps the reported time %s, however wrong, beside the receipt", (timestamp, reported_at) => {
  expect(sampleRows(place, entry({ service_id: serviceId, metrics: { a: 1 }, timestamp }))).toMatchObject([{ reported_at, received_at: "2026-05-04 12:00:00.000" }]);
});

it("makes none of a body that cannot be read", () => {
  expect(sampleRows(place, entry("nonsense"))).toEqual([]);
  expect(sampleRows(place, entry({ service_id: serviceId, metrics: {} }))).toEqual([]);
});
