import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { newId } from "../../platform/ids.ts";
import { MetricsQuery, MetricsSeries } from "../../schemas/api/services.ts";
import { organizations, services } from "../../schemas/tables/all.ts";
import { freshClickHouse } from "../../testing/clickhouse.ts";
import { freshDatabase } from "../../testing/postgres.ts";
import { readMetrics } from "./read-metrics.ts";

const noon = Date.UTC(2026, 0, 31, 12);
const [organizationId, serviceId, otherService] = [newId(), newId(), newId()];

let database: Awaited<ReturnType<typeof freshDatabase>>;
let clickhouse: Awaited<ReturnType<typeof freshClickHouse>>;

function sample(name: string, value: number, second: number, changes: object = {}) {
  const at = new Date(noon + second * 1000).toISOString().replace("T", " ").replace("Z", "");
  return { log_id: "log", partition: 0, offset: 1, index: 0, organization_id: organizationId, service_id: serviceId, name, value, received_at: at, reported_at: at, ...changes };
}

beforeAll(async () => {
  [database, clickhouse] = await Promise.all([freshDatabase(), freshClickHouse()]);
  await database.database.insert(organizations).values({ id: organizationId, name: "Acme", plan: "team" });
  await database.database.insert(services).values([{ id: serviceId, organizationId, name: "Checkout" }, { id: otherService, organizationId, name: "Search" }]);
  await clickhouse.clickhouse.insert(
    "metric_samples",
    [
      sample("error_rate", 1, 0),
      sample("error_rate", 2, 59),
      sample("error_rate", 6, 60),
      sample("cpu_percent", 40, 10),
      sample("cpu_percent", 99, 10, { service_id: otherService }),
      // Pushed half an hour late, for a moment in the window; and by a clock that is six years wrong.
      sample("late", 5, 1_800, { reported_at: "2026-01-31 12:00:30.000" }),
      sample("wrong_clock", 7, 30, { reported_at: "2020-01-31 12:00:00.000" }),
      sample("huge", 1.7e308, 0),
      sample("huge", 1.7e308, 1),
    ],
    {},
  );
});
afterAll(async () => {
  await database.drop();
  await clickhouse.drop();
});

const read = (query: object, id = serviceId, organization = organizationId) =>
  readMetrics({ database: database.database, clickhouse: clickhouse.clickhouse }, organization, id, MetricsQuery.parse(query), new Date(noon + 120_000));

describe("the metrics of a service", () => {
  it("are averaged step by step, at the time they were reported for", async () => {
    const answer = await read({ from: "2026-01-31T12:00:00Z", to: "2026-01-31T13:02:00+01:00", step: "60" });
    expect(MetricsSeries.parse(answer).series).toEqual([
      { name: "cpu_percent", points: [["2026-01-31T12:00:00.000Z", 40, 40, 1]] },
      { name: "error_rate", points: [["2026-01-31T12:00:00.000Z", 1.5, 2, 2], ["2026-01-31T12:01:00.000Z", 6, 6, 1]] },
      { name: "huge", points: [["2026-01-31T12:00:00.000Z", 1.7e308, 1.7e308, 2]] },
      { name: "late", points: [["2026-01-31T12:00:00.000Z", 5, 5, 1]] },
      { name: "wrong_clock", points: [["2026-01-31T12:00:00.000Z", 7, 7, 1]] },
    ]);
  });

  it("can be one metric, or none in a window without samples", async () => {
    expect((await read({ name: "error_rate", step: "3600" })).series).toEqual([{ name: "error_rate", points: [["2026-01-31T12:00:00.000Z", 3, 6, 3]] }]);
    expect(await read({ to: "2026-01-30T00:00:00Z" })).toEqual({ series: [] });
    expect(await read({ name: "unheard_of" })).toEqual({ series: [] });
  });

  it("can be asked for over all of time", async () => {
    const { series } = await read({ from: "0001-01-01T00:00:00Z", to: "9999-12-31T23:59:59Z", name: "error_rate" });
    expect(series[0]!.points).toMatchObject([[expect.any(String), 3, 6, 3]]);
  });

  it("are not there for another organization", async () => {
    for (const id of [serviceId, "nonsense"]) await expect(read({}, id, newId())).rejects.toMatchObject({ code: "NOT_FOUND", message: "No such service." });
  });
});
