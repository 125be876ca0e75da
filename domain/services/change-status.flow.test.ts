import { asc, eq, inArray } from "drizzle-orm";
import { drizzle } from "drizzle-orm/node-postgres";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { newId } from "../../platform/ids.ts";
import { inTransaction, type Database } from "../../platform/postgres/database.ts";
import * as tables from "../../schemas/tables/all.ts";
import { OPINION_SOURCES, SERVICE_STATUSES } from "../../schemas/vocabulary.ts";
import { freshDatabase } from "../../testing/postgres.ts";
import { changeOpinions, overruleOpinion, startStatus, type OpinionChange } from "./change-status.ts";

const { events, organizations, serviceOpinions, services, serviceStatusHistory } = tables;
const start = new Date("2026-01-31T12:00:00.000Z");
const organizationId = newId();

let fresh: Awaited<ReturnType<typeof freshDatabase>>;
let database: Database;

beforeAll(async () => {
  fresh = await freshDatabase();
  database = fresh.database;
  await database.insert(organizations).values({ id: organizationId, name: "Acme", plan: "team" });
});
afterAll(() => fresh.drop());

async function makeServices(count: number): Promise<string[]> {
  const rows = Array.from({ length: count }, (_, n) => ({ id: newId(), organizationId, name: `Service ${n}`, createdAt: start, updatedAt: start }));
  await database.transaction(async (tx) => {
    await tx.insert(services).values(rows);
    for (const row of rows) await startStatus(tx, row, "operational", start);
  });
  return rows.map(({ id }) => id);
}

const apply = (changes: OpinionChange[], at = start) => inTransaction(database, (tx) => changeOpinions(tx, changes, at));

async function read(serviceId: string) {
  const [service] = await database.select().from(services).where(eq(services.id, serviceId));
  const opinions = await database.select().from(serviceOpinions).where(eq(serviceOpinions.serviceId, serviceId));
  const history = await database.select().from(serviceStatusHistory).where(eq(serviceStatusHistory.serviceId, serviceId)).orderBy(asc(serviceStatusHistory.id));
  const told = (await database.select().from(events)).filter(({ type, data }) => type === "service.status_changed" && data["id"] === serviceId);
  return { service: service!, opinions, history, told };
}

describe("changing opinions", () => {
  it("derives the status, writes one row of history and one event, and returns the change", async () => {
    const [serviceId] = await makeServices(1);
    const changed = await apply([{ serviceId: serviceId!, source: "metrics", status: "partial_outage", reason: "error_rate 12 is above 10" }]);
    expect(changed).toEqual([{ serviceId, organizationId, name: "Service 0", previous: "operational", current: "partial_outage", reason: "error_rate 12 is above 10" }]);
    const { service, history, told } = await read(serviceId!);
    expect(service).toMatchObject({ status: "partial_outage", statusSource: "metrics" });
    expect(history.map(({ status, source, reason }) => ({ status, source, reason }))).toEqual([
      { status: "operational", source: "manual", reason: "The service was created." },
      { status: "partial_outage", source: "metrics", reason: "error_rate 12 is above 10" },
    ]);
    expect(told).toHaveLength(1);
    expect(told[0]).toMatchObject({ organizationId, data: { id: serviceId, name: "Service 0", previous_status: "operational", new_status: "partial_outage" }, createdAt: start, fannedOutAt: null });
  });

  it("says nothing when the status stays, even if another source holds it now", async () => {
    const [serviceId] = await makeServices(1);
    await apply([{ serviceId: serviceId!, source: "metrics", status: "degraded", reason: "slow" }]);
    expect(await apply([{ serviceId: serviceId!, source: "incidents", status: "degraded", reason: "incident" }])).toEqual([]);
    expect(await apply([{ serviceId: serviceId!, source: "monitors", status: "operational", reason: "up" }])).toEqual([]);
    const { service, opinions, history, told } = await read(serviceId!);
    expect(service).toMatchObject({ status: "degraded", statusSource: "incidents" });
    expect(opinions).toHaveLength(2);
    expect([history.length, told.length]).toEqual([2, 1]);
  });

  it("returns to operational when the last opinion goes, for the reason that took it away", async () => {
    const [serviceId] = await makeServices(1);
    await apply([{ serviceId: serviceId!, source: "metrics", status: "degraded", reason: "slow" }]);
    const changed = await apply([{ serviceId: serviceId!, source: "metrics", status: null, reason: "fast again" }]);
    expect(changed).toMatchObject([{ previous: "degraded", current: "operational", reason: "fast again" }]);
    expect(await read(serviceId!)).toMatchObject({ service: { status: "operational", statusSource: "manual" }, opinions: [] });
  });

  it("lets monitors and metrics wait while a maintenance is in progress, and hears them after it", async () => {
    const [serviceId] = await makeServices(1);
    await apply([{ serviceId: serviceId!, source: "maintenance", status: "maintenance", reason: "window" }]);
    expect(await apply([{ serviceId: serviceId!, source: "monitors", status: "major_outage", reason: "down" }])).toEqual([]);
    expect(await apply([{ serviceId: serviceId!, source: "maintenance", status: null, reason: "done" }])).toMatchObject([{ previous: "maintenance", current: "major_outage", reason: "down" }]);
  });

  it("leaves an overruled opinion without weight until its source says something else", async () => {
    const [serviceId] = await makeServices(1);
    const says = async (status: "degraded" | "major_outage" | null) => apply([{ serviceId: serviceId!, source: "monitors", status, reason: `said ${status}` }]);
    const overrule = () =>
      inTransaction(database, async (tx) => {
        await overruleOpinion(tx, serviceId!, "monitors");
        return changeOpinions(tx, [{ serviceId: serviceId!, source: "manual", status: "operational", reason: "by hand" }], start);
      });
    await says("degraded");
    expect(await overrule()).toMatchObject([{ previous: "degraded", current: "operational", reason: "by hand" }]);
    expect(await says("degraded")).toEqual([]);
    expect(await says("major_outage")).toMatchObject([{ previous: "operational", current: "major_outage" }]);
    await overrule();
    expect(await says(null)).toEqual([]);
    expect(await says("major_outage")).toMatchObject([{ previous: "operational", current: "major_outage" }]);
  });

  it("takes the last of several changes of one source and skips services that are gone", async () => {
    const [serviceId] = await makeServices(1);
    const changed = await apply([
      { serviceId: serviceId!, source: "metrics", status: "major_outage", reason: "first" },
      { serviceId: newId(), source: "metrics", status: "degraded", reason: "gone" },
      { serviceId: serviceId!, source: "metrics", status: "degraded", reason: "last" },
    ]);
    expect(changed).toMatchObject([{ serviceId, previous: "operational", current: "degraded", reason: "last" }]);
    expect(await apply([])).toEqual([]);
  });

  it("keeps the history in order when a change waited longer than the one that came after it", async () => {
    const [serviceId] = await makeServices(1);
    const late = new Date(start.getTime() + 5_000);
    await apply([{ serviceId: serviceId!, source: "metrics", status: "degraded", reason: "slow" }], late);
    await apply([{ serviceId: serviceId!, source: "metrics", status: null, reason: "fast" }], start);
    const { history } = await read(serviceId!);
    expect(history.map(({ changedAt }) => changedAt)).toEqual([start, late, late]);
  });

  it("needs the same number of statements for one service as for many", async () => {
    let statements = 0;
    const counted = drizzle({ client: database.$client, schema: tables, logger: { logQuery: () => void statements++ } });
    const count = async (ids: string[]) => {
      statements = 0;
      const changes = ids.map((serviceId, n) => ({ serviceId, source: "monitors" as const, status: n % 2 ? ("degraded" as const) : ("major_outage" as const), reason: "down" }));
      const changed = await counted.transaction((tx) => changeOpinions(tx, changes, start));
      expect(changed).toHaveLength(ids.length);
      return statements;
    };
    const one = await count(await makeServices(1));
    expect(await count(await makeServices(60))).toBe(one);
  });
});

describe("twenty parallel writers", () => {
  it("leave a chain without gaps: one row of history and one event for each change", async () => {
    const ids = await makeServices(5);
    const returned = (
      await Promise.all(
        Array.from({ length: 20 }, async (_, writer) => {
          const mine = [];
          for (let round = 0; round < 10; round++) {
            const changes = ids.map((serviceId, n) => ({
              serviceId,
              source: OPINION_SOURCES[(writer + n) % OPINION_SOURCES.length]!,
              status: SERVICE_STATUSES[(writer * 7 + round * 3 + n) % SERVICE_STATUSES.length]!,
              reason: `writer ${writer}, round ${round}`,
            }));
            // Each writer names the services in another order: locks must not depend on it.
            mine.push(...(await database.transaction((tx) => changeOpinions(tx, writer % 2 ? changes.toReversed() : changes, new Date()))));
          }
          return mine;
        }),
      )
    ).flat();
    const allEvents = await database.select().from(events).where(inArray(events.type, ["service.status_changed"]));
    for (const serviceId of ids) {
      const { service, history } = await read(serviceId);
      const statuses = history.map(({ status }) => status);
      const steps = statuses.slice(1).map((status, n) => `${statuses[n]} → ${status}`);
      expect(steps.filter((step) => step.split(" → ")[0] === step.split(" → ")[1])).toEqual([]);
      expect(service.status).toBe(statuses.at(-1));
      const told = allEvents.filter(({ data }) => data["id"] === serviceId).map(({ data }) => [data["previous_status"], data["new_status"]].join(" → "));
      expect(told.sort()).toEqual([...steps].sort());
      expect(returned.filter((change) => change.serviceId === serviceId)).toHaveLength(steps.length);
      const times = history.map(({ changedAt }) => changedAt.getTime());
      expect(times).toEqual([...times].sort((a, b) => a - b));
    }
  });
});

describe("a batch that changes everything", () => {
  it("takes more services than a statement has parameters for", async () => {
    const rows = Array.from({ length: 11_000 }, (_, n) => ({
      id: newId(),
      organizationId,
      name: `Service ${n}`,
      createdAt: start,
      updatedAt: start,
    }));
    await database.insert(services).values(rows);
    const changed = await apply(
      rows.map(({ id }) => ({
        serviceId: id,
        source: "metrics",
        status: "degraded",
        reason: "all at once",
      })),
    );
    expect(changed.map(({ serviceId }) => serviceId)).toEqual(rows.map(({ id }) => id).sort());
    const history = await database
      .select()
      .from(serviceStatusHistory)
      .where(eq(serviceStatusHistory.reason, "all at once"));
    expect(history.map(({ serviceId }) => serviceId).sort()).toEqual(
      rows.map(({ id }) => id).sort(),
    );
  });
});
