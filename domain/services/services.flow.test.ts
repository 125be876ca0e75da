import { and, asc, eq } from "drizzle-orm";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { newId } from "../../platform/ids.ts";
import { inTransaction, type Database } from "../../platform/postgres/database.ts";
import { CreateIncident } from "../../schemas/api/incidents.ts";
import { CreateService, Service, UpdateService } from "../../schemas/api/services.ts";
import { auditEntries, events, metricStates, organizations, serviceOpinions, services, serviceStatusHistory } from "../../schemas/tables/all.ts";
import { DEFAULT_THRESHOLDS } from "../../schemas/thresholds.ts";
import type { Plan } from "../../schemas/vocabulary.ts";
import { freshDatabase } from "../../testing/postgres.ts";
import { systemActor, type Actor } from "../actor.ts";
import { getIncident } from "../incidents/read.ts";
import { openIncident } from "../incidents/open.ts";
import { changeOpinions } from "./change-status.ts";
import { createService } from "./create.ts";
import { deleteService } from "./delete.ts";
import { getService, listServices } from "./read.ts";
import { updateService } from "./update.ts";

const at = new Date("2026-01-31T12:00:00.000Z");
const later = (seconds: number) => new Date(at.getTime() + seconds * 1000);

let fresh: Awaited<ReturnType<typeof freshDatabase>>;
let database: Database;

beforeAll(async () => {
  fresh = await freshDatabase();
  database = fresh.database;
});
afterAll(() => fresh.drop());

async function makeActor(plan: Plan = "team"): Promise<Actor> {
  const organizationId = newId();
  await database.insert(organizations).values({ id: organizationId, name: "Acme", plan });
  return systemActor(organizationId, "test");
}

const create = (actor: Actor, input: unknown, when = at) => createService(database, actor, CreateService.parse(input), when);
const update = (actor: Actor, id: string, input: unknown, when = later(60)) => updateService(database, actor, id, UpdateService.parse(input), when);
const opinionsOf = async (id: string) => (await database.select().from(serviceOpinions).where(and(eq(serviceOpinions.serviceId, id), eq(serviceOpinions.overruled, false)))).map(({ source, status }) => `${source}: ${status}`).sort();
const historyOf = async (id: string) =>
  (await database.select().from(serviceStatusHistory).where(eq(serviceStatusHistory.serviceId, id)).orderBy(asc(serviceStatusHistory.id))).map(({ status, source }) => `${source}: ${status}`);
const eventsOf = async (actor: Actor) => database.select().from(events).where(eq(events.organizationId, actor.organizationId));

describe("a service's life", () => {
  it("begins operational, with the default thresholds and one row of history, and is no change", async () => {
    const actor = await makeActor();
    const service = await create(actor, { name: "  Checkout " });
    expect(Service.parse(service)).toEqual({
      id: expect.any(String),
      name: "Checkout",
      description: "",
      status: "operational",
      status_source: "manual",
      display_order: 0,
      thresholds: DEFAULT_THRESHOLDS,
      created_at: at.toISOString(),
      updated_at: at.toISOString(),
    });
    expect(await getService(database, actor.organizationId, service.id)).toEqual(service);
    expect(await historyOf(service.id)).toEqual(["manual: operational"]);
    expect(await eventsOf(actor)).toEqual([]);
  });

  it("may begin with another status, which is an opinion set by hand", async () => {
    const actor = await makeActor();
    const service = await create(actor, { name: "Checkout", status: "degraded", thresholds: { breaches_to_worsen: 4 } });
    expect(service).toMatchObject({ status: "degraded", status_source: "manual", thresholds: { ...DEFAULT_THRESHOLDS, breaches_to_worsen: 4 } });
    expect([await opinionsOf(service.id), await historyOf(service.id), await eventsOf(actor)]).toEqual([["manual: degraded"], ["manual: degraded"], []]);
    expect(await update(actor, service.id, { status: "operational" })).toMatchObject({ status: "operational" });
    expect(await opinionsOf(service.id)).toEqual([]);
  });

  it("changes only in what is given", async () => {
    const actor = await makeActor();
    const { id } = await create(actor, { name: "Checkout", description: "Takes payments" });
    expect(await update(actor, id, { name: "Cash desk", display_order: 7 })).toMatchObject({ name: "Cash desk", description: "Takes payments", display_order: 7, created_at: at.toISOString(), updated_at: later(60).toISOString() });
    expect(await update(actor, id, { thresholds: { metrics: { error_rate: { degraded: 3 } } } })).toMatchObject({ thresholds: { metrics: { error_rate: { degraded: 3, partial_outage: 10, major_outage: 50 } } } });
    expect(await update(actor, id, { thresholds: null })).toMatchObject({ thresholds: DEFAULT_THRESHOLDS });
    expect(await eventsOf(actor)).toEqual([]);
  });

  it("ends with its deletion; its incidents stay", async () => {
    const actor = await makeActor();
    const { id } = await create(actor, { name: "Checkout" });
    const incident = await openIncident(database, actor, { ...CreateIncident.parse({ title: "X", services: [id] }), at });
    await deleteService(database, actor, id);
    await expect(getService(database, actor.organizationId, id)).rejects.toMatchObject({ code: "NOT_FOUND", message: "No such service." });
    expect(await getIncident(database, actor.organizationId, incident.id)).toMatchObject({ services: [] });
  });

  it("stands in the audit log", async () => {
    const actor = await makeActor();
    const { id } = await create(actor, { name: "Checkout" });
    await update(actor, id, { name: "Cash desk", status: "degraded" });
    await deleteService(database, actor, id);
    const entries = await database.select().from(auditEntries).where(eq(auditEntries.resourceId, id)).orderBy(asc(auditEntries.createdAt));
    expect(entries.map(({ action, before, after }) => [action, before?.["name"], after?.["name"]])).toEqual([
      ["service.created", undefined, "Checkout"],
      ["service.updated", "Checkout", "Cash desk"],
      ["service.deleted", "Cash desk", undefined],
    ]);
    expect(entries[1]!.changedFields).toEqual(["name", "status"]);
  });
});

describe("a status set by hand", () => {
  it("clears what monitors and metrics said, and the metrics' count of breaches", async () => {
    const actor = await makeActor();
    const { id } = await create(actor, { name: "Checkout" });
    await database.insert(metricStates).values({ serviceId: id, breaches: 3, clears: 0 });
    await inTransaction(database, (tx) =>
      changeOpinions(
        tx,
        [
          { serviceId: id, source: "metrics", status: "major_outage", reason: "error_rate" },
          { serviceId: id, source: "monitors", status: "partial_outage", reason: "down" },
        ],
        at,
      ),
    );
    expect(await update(actor, id, { status: "degraded" })).toMatchObject({ status: "degraded", status_source: "manual" });
    expect(await opinionsOf(id)).toEqual(["manual: degraded"]);
    expect(await database.select().from(metricStates).where(eq(metricStates.serviceId, id))).toEqual([]);
    expect(await historyOf(id)).toEqual(["manual: operational", "metrics: major_outage", "manual: degraded"]);
    expect((await eventsOf(actor)).map(({ data }) => data["new_status"]).sort()).toEqual(["degraded", "major_outage"]);
  });

  it("cannot make a service better than its open incident says", async () => {
    const actor = await makeActor();
    const { id } = await create(actor, { name: "Checkout" });
    await openIncident(database, actor, { ...CreateIncident.parse({ title: "X", severity: "critical", services: [id] }), at });
    expect(await update(actor, id, { status: "operational" })).toMatchObject({ status: "major_outage", status_source: "incidents" });
  });

  it("by many people at once loses no patch", async () => {
    const actor = await makeActor();
    const { id } = await create(actor, { name: "Checkout" });
    const names = Array.from({ length: 12 }, (_, n) => `metric_${n}`);
    await Promise.all(names.map((name, n) => update(actor, id, { status: n % 2 ? "degraded" : "operational", thresholds: { metrics: { [name]: { degraded: n } } } })));
    const service = await getService(database, actor.organizationId, id);
    expect(Object.keys(service.thresholds.metrics)).toEqual(expect.arrayContaining(names));
    const history = await historyOf(id);
    expect(history.filter((entry, n) => entry === history[n - 1])).toEqual([]);
    expect(await eventsOf(actor)).toHaveLength(history.length - 1);
  });
});

describe("the list", () => {
  it("is in display order, then oldest first, with the organization's default thresholds", async () => {
    const actor = await makeActor();
    const defaultThresholds = { ...DEFAULT_THRESHOLDS, clears_to_recover: 5 };
    await database.update(organizations).set({ defaultThresholds }).where(eq(organizations.id, actor.organizationId));
    await create(actor, { name: "third", display_order: 2 });
    await create(actor, { name: "first" });
    await create(actor, { name: "second", display_order: 1 });
    await create(actor, { name: "also first" }, later(1));
    const listed = await listServices(database, actor.organizationId, { limit: 100, offset: 0 });
    expect(listed.map(({ name }) => name)).toEqual(["first", "also first", "second", "third"]);
    expect(listed[0]!.thresholds).toEqual(defaultThresholds);
  });
});

describe("a plan", () => {
  it("has room for so many services and no more, even for those that come at once", async () => {
    const actor = await makeActor("free");
    const results = await Promise.allSettled(Array.from({ length: 30 }, (_, n) => create(actor, { name: `Service ${n}` })));
    const refused = results.filter((result) => result.status === "rejected");
    expect(refused).toHaveLength(5);
    for (const { reason } of refused) expect(reason).toMatchObject({ code: "PLAN_LIMIT" });
    expect(await database.$count(services, eq(services.organizationId, actor.organizationId))).toBe(25);
  });
});

describe("another organization", () => {
  it("meets the same sentence for its neighbour's service as for one that does not exist", async () => {
    const [mine, theirs] = [await makeActor(), await makeActor()];
    const service = await create(theirs, { name: "Theirs" });
    for (const foreign of [service.id, newId(), "nonsense"]) {
      const attempts = [() => getService(database, mine.organizationId, foreign), () => update(mine, foreign, { name: "Mine" }), () => deleteService(database, mine, foreign)];
      for (const attempt of attempts) await expect(attempt()).rejects.toMatchObject({ code: "NOT_FOUND", message: "No such service.", details: {} });
    }
    expect(await listServices(database, mine.organizationId, { limit: 100, offset: 0 })).toEqual([]);
    expect(await getService(database, theirs.organizationId, service.id)).toEqual(service);
  });
});
