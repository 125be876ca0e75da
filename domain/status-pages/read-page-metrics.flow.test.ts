import { afterAll, beforeAll, expect, it } from "vitest";
import { newId } from "../../platform/ids.ts";
import { freshClickHouse } from "../../testing/clickhouse.ts";
import { METRIC_STEP_MS, readPageMetrics } from "./read-page-metrics.ts";

const now = Date.UTC(2026, 0, 31, 12);
const HOUR_MS = 3_600_000;
const [organizationId, checkout, search] = [newId(), newId(), newId()];

let store: Awaited<ReturnType<typeof freshClickHouse>>;

function sample(serviceId: string, name: string, value: number, ageMs: number, organization = organizationId) {
  const at = new Date(now - ageMs).toISOString().replace("T", " ").replace("Z", "");
  return { log_id: "log", partition: 0, offset: 1, index: 0, organization_id: organization, service_id: serviceId, name, value, received_at: at, reported_at: at };
}

beforeAll(async () => {
  store = await freshClickHouse();
  const samples = [
    sample(checkout, "response_time_ms", 100, 2 * HOUR_MS),
    sample(checkout, "response_time_ms", 300, 2 * HOUR_MS - 1_000),
    sample(checkout, "response_time_ms", 50, HOUR_MS),
    sample(checkout, "error_rate", 2, HOUR_MS),
    sample(checkout, "error_rate", 1.7e308, 3 * HOUR_MS),
    sample(checkout, "error_rate", 1.7e308, 3 * HOUR_MS),
    // What is none of the visitors' business, too old, or of a service that the page does not show.
    sample(checkout, "cpu_percent", 99, HOUR_MS),
    sample(checkout, "response_time_ms", 9_999, 25 * HOUR_MS),
    sample(newId(), "response_time_ms", 9_999, HOUR_MS),
    // Of another organization, although in this service's name.
    sample(checkout, "response_time_ms", 9_999, HOUR_MS, newId()),
  ];
  await store.clickhouse.insert("metric_samples", samples, {});
});
afterAll(() => store.drop());

it("gives response times and error rates of the last day, step by step", async () => {
  const slot = (ageMs: number) => Math.floor((now - ageMs) / METRIC_STEP_MS) * METRIC_STEP_MS;
  expect(await readPageMetrics(store.clickhouse, organizationId, [checkout, search], new Date(now))).toEqual({
    from: now - 24 * HOUR_MS,
    until: now,
    series: [
      { serviceId: checkout, name: "error_rate", points: [{ at: slot(HOUR_MS), average: 2 }], average: 2, highest: 2 },
      { serviceId: checkout, name: "response_time_ms", points: [{ at: slot(2 * HOUR_MS), average: 200 }, { at: slot(HOUR_MS), average: 50 }], average: 150, highest: 300 },
    ],
  });
});

it("asks for nothing when the page shows no services", async () => {
  expect((await readPageMetrics(store.clickhouse, organizationId, [], new Date(now))).series).toEqual([]);
});
