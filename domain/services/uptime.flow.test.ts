import { afterAll, beforeAll, describe, expect, it, test } from "vitest";
import { newId } from "../../platform/ids.ts";
import type { Database } from "../../platform/postgres/database.ts";
import { ServiceUptime } from "../../schemas/api/uptime.ts";
import { organizations, services, serviceStatusHistory } from "../../schemas/tables/all.ts";
import type { ServiceStatus } from "../../schemas/vocabulary.ts";
import { freshDatabase } from "../../testing/postgres.ts";
import { getUptime, secondsByDay, uptimeOf } from "./uptime.ts";

let database: Database;
let drop: () => Promise<void>;
beforeAll(async () => ({ database, drop } = await freshDatabase()));
afterAll(() => drop());

type Change = [at: string, status: ServiceStatus];

async function makeService(timezone: string, history: Change[]): Promise<{ organizationId: string; serviceId: string }> {
  const [organizationId, serviceId] = [newId(), newId()];
  await database.insert(organizations).values({ id: organizationId, name: "Acme", plan: "team", timezone });
  await database.insert(services).values({ id: serviceId, organizationId, name: "Checkout" });
  if (history.length > 0) await database.insert(serviceStatusHistory).values(history.map(([at, status]) => ({ organizationId, serviceId, status, source: "manual" as const, reason: "test", changedAt: new Date(at) })));
  return { organizationId, serviceId };
}

/** `date: seconds of status, …` for each day. */
async function days(timezone: string, now: string, count: number, history: Change[]): Promise<string[]> {
  const { organizationId, serviceId } = await makeService(timezone, history);
  const uptime = ServiceUptime.parse(await getUptime(database, organizationId, serviceId, { days: count, now: new Date(now) }));
  return uptime.days.map(({ date, seconds_by_status: seconds, uptime_percent: percent }) => {
    const shares = Object.entries(seconds).filter(([, each]) => each > 0).map(([status, each]) => `${each} ${status}`);
    return `${date}: ${shares.join(", ") || "nothing"} = ${percent}`;
  });
}

const DAY = 86_400;

describe("uptime by day", () => {
  test.each<{ name: string; zone: string; now: string; days: number; history: Change[]; expected: string[] }>([
    {
      name: "begins with the service's creation and ends now",
      zone: "UTC",
      now: "2026-01-31T06:00:00Z",
      days: 3,
      history: [["2026-01-30T18:00:00Z", "operational"]],
      expected: ["2026-01-29: nothing = null", "2026-01-30: 21600 operational = 100", "2026-01-31: 21600 operational = 100"],
    },
    {
      name: "divides an outage at midnight",
      zone: "UTC",
      now: "2026-02-01T00:00:00.001Z",
      days: 3,
      history: [["2026-01-01T00:00:00Z", "operational"], ["2026-01-30T12:00:00Z", "major_outage"], ["2026-01-31T18:00:00Z", "operational"]],
      expected: ["2026-01-30: 43200 operational, 43200 major_outage = 50", "2026-01-31: 21600 operational, 64800 major_outage = 25", "2026-02-01: 0.001 operational = 100"],
    },
    {
      name: "has 23 hours on the day that clocks go forward",
      zone: "Europe/Berlin",
      now: "2026-03-30T22:00:00Z",
      days: 4,
      history: [["2026-03-01T00:00:00Z", "operational"], ["2026-03-28T23:00:00Z", "major_outage"], ["2026-03-29T22:00:00Z", "operational"]],
      expected: [`2026-03-28: ${DAY} operational = 100`, "2026-03-29: 82800 major_outage = 0", `2026-03-30: ${DAY} operational = 100`, "2026-03-31: nothing = null"],
    },
    {
      name: "has 25 hours on the day that clocks go back",
      zone: "Europe/Berlin",
      now: "2026-10-26T11:00:00Z",
      days: 2,
      history: [["2026-10-01T00:00:00Z", "operational"], ["2026-10-25T00:30:00Z", "partial_outage"], ["2026-10-25T01:30:00Z", "operational"]],
      expected: ["2026-10-25: 86400 operational, 3600 partial_outage = 96", "2026-10-26: 43200 operational = 100"],
    },
    {
      name: "loses nothing where midnight itself is skipped",
      zone: "America/Santiago",
      now: "2026-09-07T03:00:00Z",
      days: 3,
      history: [["2026-09-01T00:00:00Z", "degraded"]],
      expected: ["2026-09-05: 86400 degraded = 100", "2026-09-06: 82800 degraded = 100", "2026-09-07: nothing = null"],
    },
    {
      name: "counts neither maintenance nor degraded as down",
      zone: "UTC",
      now: "2026-01-31T12:00:00Z",
      days: 1,
      history: [["2026-01-31T00:00:00Z", "maintenance"], ["2026-01-31T03:00:00Z", "degraded"], ["2026-01-31T06:00:00Z", "partial_outage"], ["2026-01-31T09:00:00Z", "operational"]],
      expected: ["2026-01-31: 10800 operational, 10800 maintenance, 10800 degraded, 10800 partial_outage = 75"],
    },
    {
      name: "never rounds up to 100",
      zone: "UTC",
      now: "2026-01-31T23:59:59.999Z",
      days: 1,
      history: [["2026-01-01T00:00:00Z", "operational"], ["2026-01-31T01:00:00Z", "major_outage"], ["2026-01-31T01:00:00.001Z", "operational"]],
      expected: ["2026-01-31: 86399.998 operational, 0.001 major_outage = 99.9999"],
    },
    {
      name: "leaves out statuses that lasted no time, and what has not happened yet",
      zone: "UTC",
      now: "2026-01-31T12:00:00Z",
      days: 1,
      history: [["2026-01-31T00:00:00Z", "major_outage"], ["2026-01-31T00:00:00Z", "operational"], ["2026-01-31T13:00:00Z", "major_outage"]],
      expected: ["2026-01-31: 43200 operational = 100"],
    },
    { name: "is nothing without a history", zone: "Asia/Kolkata", now: "2026-01-31T20:00:00Z", days: 2, history: [], expected: ["2026-01-31: nothing = null", "2026-02-01: nothing = null"] },
  ])("$name", async ({ zone, now, days: count, history, expected }) => {
    expect(await days(zone, now, count, history)).toEqual(expected);
  });

  it("adds up to the whole time, whatever the zone", async () => {
    const { serviceId } = await makeService("UTC", [["2025-01-01T00:00:00Z", "operational"]]);
    const now = new Date("2026-01-31T12:00:00Z");
    for (const timezone of ["UTC", "Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Asia/Kathmandu", "Pacific/Apia"]) {
      const shares = (await secondsByDay(database, { serviceIds: [serviceId], timezone, days: 366, now })).get(serviceId)!;
      expect(shares).toHaveLength(366);
      const { rows } = await database.$client.query<{ start: Date }>("select (($1::timestamptz at time zone $2)::date - 365)::timestamp at time zone $2 as start", [now, timezone]);
      expect(shares.reduce((sum, { seconds }) => sum + seconds, 0), timezone).toBe((now.getTime() - rows[0]!.start.getTime()) / 1000);
    }
  });

  it("is of all days together too, with the worst status of each", () => {
    const uptime = uptimeOf([
      { date: "2026-01-30", status: null, seconds: 0 },
      { date: "2026-01-31", status: "operational", seconds: 75 },
      { date: "2026-01-31", status: "major_outage", seconds: 25 },
      { date: "2026-02-01", status: "maintenance", seconds: 100 },
    ]);
    expect(uptime.uptime_percent).toBe(87.5);
    expect(uptime.days.map(({ worst_status: worst }) => worst)).toEqual([null, "major_outage", "maintenance"]);
  });

  it("is not there for another organization", async () => {
    const { serviceId } = await makeService("UTC", []);
    for (const id of [serviceId, newId(), "nonsense"]) await expect(getUptime(database, newId(), id, { days: 1, now: new Date() })).rejects.toMatchObject({ code: "NOT_FOUND", message: "No such service." });
  });
});
