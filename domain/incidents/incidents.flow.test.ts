import { asc, eq } from "drizzle-orm";
import { drizzle } from "drizzle-orm/node-postgres";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { newId } from "../../platform/ids.ts";
import { inTransaction, type Database } from "../../platform/postgres/database.ts";
import { CreateIncident, IncidentList, IncidentListQuery, type AddIncidentUpdate } from "../../schemas/api/incidents.ts";
import * as tables from "../../schemas/tables/all.ts";
import { freshDatabase } from "../../testing/postgres.ts";
import { systemActor, type Actor } from "../actor.ts";
import { addIncidentUpdate, updateIncident } from "./change.ts";
import { deleteIncident } from "./delete.ts";
import { openIncident, openIncidentIn, openIncidentsIn } from "./open.ts";
import { getIncident, listIncidents } from "./read.ts";
import { weighOnServices } from "./weigh-on-services.ts";

const { auditEntries, events, incidents, organizations, serviceOpinions, services, serviceStatusHistory } = tables;
const at = new Date("2026-01-31T12:00:00.000Z");
const later = (seconds: number) => new Date(at.getTime() + seconds * 1000);

let fresh: Awaited<ReturnType<typeof freshDatabase>>;
let database: Database;

beforeAll(async () => {
  fresh = await freshDatabase();
  database = fresh.database;
});
afterAll(() => fresh.drop());

async function makeOrganization(...names: string[]): Promise<{ actor: Actor; ids: string[] }> {
  const organizationId = newId();
  await database.insert(organizations).values({ id: organizationId, name: "Acme", plan: "team" });
  const rows = names.map((name, n) => ({ id: newId(), organizationId, name, displayOrder: n, createdAt: at, updatedAt: at }));
  if (rows.length > 0) await database.insert(services).values(rows);
  return { actor: { organizationId, type: "api_key", id: newId(), name: "CI", ip: "203.0.113.7", userAgent: "curl" }, ids: rows.map(({ id }) => id) };
}

const open = (actor: Actor, input: unknown, when = at) => openIncident(database, actor, { ...CreateIncident.parse(input), at: when });
const addUpdate = (actor: Actor, id: string, update: Partial<AddIncidentUpdate>, when: Date) => addIncidentUpdate(database, actor, id, { message: "words", notify: true, ...update }, when);
const list = async (actor: Actor, query: object = {}) => IncidentList.shape.incidents.parse(JSON.parse(await listIncidents(database, actor.organizationId, IncidentListQuery.parse(query))));

async function statusOf(id: string) {
  const [service] = await database.select({ status: services.status, source: services.statusSource }).from(services).where(eq(services.id, id));
  return service;
}

const toldOf = async (actor: Actor) => database.select().from(events).where(eq(events.organizationId, actor.organizationId)).orderBy(asc(events.createdAt));
const incidentEvents = async (actor: Actor) => (await toldOf(actor)).filter(({ type }) => type.startsWith("incident."));
const auditOf = async (actor: Actor) => database.select().from(auditEntries).where(eq(auditEntries.organizationId, actor.organizationId)).orderBy(asc(auditEntries.createdAt));

describe("an incident's life", () => {
  it("weighs on its services while it is open, and tells of each step once", async () => {
    const { actor, ids } = await makeOrganization("Checkout", "Search");
    const created = await open(actor, { title: "Payments fail", severity: "major", message: "We look into it.", services: ["Checkout", ids[1]!.toUpperCase(), "Checkout"] });
    expect(created).toMatchObject({
      title: "Payments fail",
      status: "investigating",
      severity: "major",
      started_at: at.toISOString(),
      resolved_at: null,
      services: [{ id: ids[0], name: "Checkout" }, { id: ids[1], name: "Search" }],
      updates: [{ status: "investigating", message: "We look into it.", created_at: at.toISOString() }],
    });
    expect(await statusOf(ids[0]!)).toEqual({ status: "partial_outage", source: "incidents" });

    const identified = await addUpdate(actor, created.id, { message: "Found it.", status: "identified" }, later(60));
    expect(identified.updates.map(({ status, message }) => ({ status, message }))).toEqual([{ status: "identified", message: "Found it." }, { status: "investigating", message: "We look into it." }]);

    await updateIncident(database, actor, created.id, { severity: "critical", services: ["Search"] }, later(90));
    expect(await statusOf(ids[0]!)).toEqual({ status: "operational", source: "manual" });
    expect(await statusOf(ids[1]!)).toEqual({ status: "major_outage", source: "incidents" });

    const resolved = await addUpdate(actor, created.id, { message: "Fixed.", status: "resolved" }, later(120));
    expect(resolved).toMatchObject({ status: "resolved", resolved_at: later(120).toISOString() });
    expect(await statusOf(ids[1]!)).toEqual({ status: "operational", source: "manual" });

    const told = await incidentEvents(actor);
    expect(told.map(({ type, data }) => ({ type, data }))).toEqual([
      { type: "incident.created", data: { id: created.id, title: "Payments fail", status: "investigating", severity: "major", services: expect.arrayContaining(["Checkout", "Search"]), message: "We look into it." } },
      { type: "incident.updated", data: { id: created.id, title: "Payments fail", status: "identified", severity: "major", services: ["Checkout", "Search"], message: "Found it.", previous_status: "investigating" } },
      { type: "incident.updated", data: { id: created.id, title: "Payments fail", status: "identified", severity: "critical", services: ["Search"], message: "", previous_status: "identified" } },
      {
        type: "incident.resolved",
        data: { id: created.id, title: "Payments fail", status: "resolved", severity: "critical", services: ["Search"], message: "Fixed.", previous_status: "identified", resolved_at: later(120).toISOString(), duration_seconds: 120 },
      },
    ]);
    const statuses = (await database.select().from(serviceStatusHistory).where(eq(serviceStatusHistory.serviceId, ids[1]!)).orderBy(asc(serviceStatusHistory.id))).map(({ status }) => status);
    expect(statuses).toEqual(["partial_outage", "major_outage", "operational"]);
  });

  it("can be left and entered again: leaving resolved clears its time", async () => {
    const { actor, ids } = await makeOrganization("Checkout");
    const { id } = await open(actor, { title: "Flaps", services: ["Checkout"] });
    await updateIncident(database, actor, id, { status: "resolved" }, later(10));
    const reopened = await updateIncident(database, actor, id, { status: "monitoring" }, later(20));
    expect(reopened).toMatchObject({ status: "monitoring", resolved_at: null, updates: [] });
    expect(await statusOf(ids[0]!)).toEqual({ status: "degraded", source: "incidents" });
  });

  it("that begins resolved weighs on nothing", async () => {
    const { actor, ids } = await makeOrganization("Checkout");
    expect(await open(actor, { title: "Was short", status: "resolved", services: ["Checkout"] })).toMatchObject({ resolved_at: at.toISOString() });
    expect(await statusOf(ids[0]!)).toMatchObject({ status: "operational" });
  });

  it("ends with its deletion, which its services feel", async () => {
    const { actor, ids } = await makeOrganization("Checkout");
    const { id } = await open(actor, { title: "Mistake", severity: "critical", services: ["Checkout"] });
    await deleteIncident(database, actor, id, later(5));
    expect(await statusOf(ids[0]!)).toMatchObject({ status: "operational" });
    await expect(getIncident(database, actor.organizationId, id)).rejects.toMatchObject({ code: "NOT_FOUND" });
    expect((await incidentEvents(actor)).map(({ type }) => type)).toEqual(["incident.created", "incident.deleted"]);
  });

  it("emits nothing for a silent update or for a change that changes nothing", async () => {
    const { actor } = await makeOrganization();
    const { id } = await open(actor, { title: "Quiet" });
    await addUpdate(actor, id, { notify: false, status: "identified" }, later(1));
    await updateIncident(database, actor, id, { title: "Quiet" }, later(2));
    expect((await incidentEvents(actor)).map(({ type }) => type)).toEqual(["incident.created"]);
  });

  it("may have a title with half a character in it", async () => {
    const { actor } = await makeOrganization("Checkout");
    const { id } = await open(actor, { title: "Broken \ud83d", message: "\udea2", services: ["Checkout"] });
    expect(await getIncident(database, actor.organizationId, id)).toMatchObject({ title: "Broken \ufffd", updates: [{ message: "\ufffd" }] });
    expect((await incidentEvents(actor))[0]!.data).toMatchObject({ title: "Broken \ufffd" });
  });

  it("stands in the audit log, with who did it and what changed", async () => {
    const { actor } = await makeOrganization("Checkout");
    const { id } = await open(actor, { title: "Payments fail", services: ["Checkout"] });
    await addUpdate(actor, id, { status: "resolved" }, later(1));
    await updateIncident(database, actor, id, { title: "Payments failed" }, later(2));
    await deleteIncident(database, actor, id, later(3));
    const entries = await auditOf(actor);
    expect(entries.map(({ action, changedFields }) => ({ action, changedFields }))).toEqual([
      { action: "incident.created", changedFields: ["resolved_at", "services", "severity", "status", "title"] },
      { action: "incident.update_added", changedFields: ["message", "resolved_at", "status"] },
      { action: "incident.updated", changedFields: ["title"] },
      { action: "incident.deleted", changedFields: ["resolved_at", "services", "severity", "status", "title"] },
    ]);
    expect(entries[2]).toMatchObject({ actorType: "api_key", actorId: actor.id, actorName: "CI", ip: "203.0.113.7", userAgent: "curl", resourceType: "incident", resourceId: id, before: { title: "Payments fail" }, after: { title: "Payments failed" } });
  });
});

describe("several incidents on one service", () => {
  it("give it the worst of their opinions", async () => {
    const { actor, ids } = await makeOrganization("Checkout");
    await open(actor, { title: "Small", services: ["Checkout"] });
    const large = await open(actor, { title: "Large", severity: "critical", services: ["Checkout"] });
    expect(await statusOf(ids[0]!)).toMatchObject({ status: "major_outage" });
    await updateIncident(database, actor, large.id, { status: "resolved" }, later(1));
    expect(await statusOf(ids[0]!)).toMatchObject({ status: "degraded" });
  });

  it("make it, one opened after the other, what all together make it", async () => {
    const { actor, ids } = await makeOrganization("Grown");
    const opinion = async () => (await database.select({ status: serviceOpinions.status, reason: serviceOpinions.reason }).from(serviceOpinions).where(eq(serviceOpinions.serviceId, ids[0]!)))[0];
    const seen: unknown[] = [];
    for (const [n, severity] of (["minor", "minor", "critical", "major", "critical"] as const).entries()) {
      await open(actor, { title: `No. ${n}`, message: "m", severity, services: ["Grown"] }, later(n));
      seen.push(await opinion());
      await inTransaction(database, (tx) => weighOnServices(tx, ids, later(n)));
      expect(await opinion()).toEqual(seen.at(-1));
    }
    const [first, third] = [{ status: "degraded", reason: 'The incident "No. 0" is open.' }, { status: "major_outage", reason: 'The incident "No. 2" is open.' }];
    expect(seen).toEqual([first, first, third, third, third]);
  });

  it("that are all closed at the same time leave it operational", async () => {
    const { actor, ids } = await makeOrganization("A", "B", "C");
    const opened = await Promise.all(Array.from({ length: 12 }, (_, n) => open(actor, { title: `Incident ${n}`, severity: "major", services: n % 2 ? ["A", "B", "C"] : ["C", "B", "A"] })));
    await Promise.all(opened.map(({ id }, n) => (n % 3 ? updateIncident(database, actor, id, { status: "resolved" }, later(n)) : deleteIncident(database, actor, id, later(n)))));
    for (const id of ids) expect(await statusOf(id)).toEqual({ status: "operational", source: "manual" });
    expect((await toldOf(actor)).filter(({ type }) => type === "service.status_changed")).toHaveLength(6);
  });
});

describe("racing updates", () => {
  it("all keep their rows, in a certain order, and the last of them is the incident's status", async () => {
    const { actor } = await makeOrganization("Checkout");
    const { id } = await open(actor, { title: "Busy", services: ["Checkout"] });
    await Promise.all(Array.from({ length: 20 }, (_, n) => addUpdate(actor, id, { message: `update ${n}`, status: n % 2 ? "identified" : "monitoring" }, later(1))));
    const { status, updates } = await getIncident(database, actor.organizationId, id);
    expect(updates.map(({ message }) => message).sort()).toEqual(Array.from({ length: 20 }, (_, n) => `update ${n}`).sort());
    expect(new Set(updates.map(({ created_at }) => created_at)).size).toBe(20);
    expect(updates[0]!.status).toBe(status);
  });
});

describe("incidents that are opened at once", () => {
  it("are all there, each with its services, its update, its event and its audit entry", async () => {
    const { actor, ids } = await makeOrganization("Checkout", "Search");
    const opened = await Promise.all(Array.from({ length: 40 }, (_, n) =>
      openIncident(database, { ...actor, name: `key ${n}` }, { title: `Incident ${n}`, status: "investigating", severity: n === 20 ? "critical" : "minor", services: n % 2 ? [ids[n % 4 === 1 ? 0 : 1]!] : [], ...(n % 3 === 0 && { message: `Seen ${n}` }), at }),
    ));
    for (const [n, incident] of opened.entries()) {
      expect(incident).toMatchObject({ title: `Incident ${n}`, services: n % 2 ? [{ id: ids[n % 4 === 1 ? 0 : 1] }] : [], updates: n % 3 === 0 ? [{ message: `Seen ${n}` }] : [] });
      expect(incident).toEqual(await getIncident(database, actor.organizationId, incident.id));
    }
    expect(await incidentEvents(actor)).toHaveLength(40);
    const entries = await database.select().from(auditEntries).where(eq(auditEntries.organizationId, actor.organizationId));
    expect(new Map(entries.map(({ resourceId, actorName }) => [resourceId, actorName]))).toEqual(new Map(opened.map(({ id }, n) => [id, `key ${n}`])));
    expect([await statusOf(ids[0]!), await statusOf(ids[1]!)]).toMatchObject([{ status: "degraded" }, { status: "degraded" }]);
  });

  it("fail alone when one names a service that is not there", async () => {
    const { actor } = await makeOrganization("Checkout");
    const settled = await Promise.allSettled(["Checkout", "Nothing", "Checkout"].map((service) => openIncident(database, actor, { title: "x", status: "investigating", severity: "minor", services: [service], at })));
    expect(settled.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
  });
});

describe("an automatism", () => {
  it("has at most one open incident, however many open it at once", async () => {
    const { actor, ids } = await makeOrganization("Checkout");
    const system = systemActor(actor.organizationId, "metrics");
    const openedBy = `metrics:${ids[0]}`;
    const tryOpen = () => inTransaction(database, (tx) => openIncidentIn(tx, system, { title: "error_rate is high", severity: "major", serviceIds: ids, openedBy, at }));
    const first = (await Promise.all(Array.from({ length: 10 }, tryOpen))).filter((incident) => incident !== null);
    expect(first).toHaveLength(1);
    expect(await incidentEvents(actor)).toHaveLength(1);

    await updateIncident(database, actor, first[0]!.id, { status: "resolved" }, later(1));
    expect(await tryOpen()).not.toBeNull();
    // A person may reopen the first although the automatism has its second open.
    expect(await updateIncident(database, actor, first[0]!.id, { status: "identified" }, later(2))).toMatchObject({ status: "identified" });
  });

  it("opens several of several organizations at once, each automatism's first alone", async () => {
    const [ours, theirs] = [
      await makeOrganization("Checkout", "Search"),
      await makeOrganization("Checkout"),
    ];
    const opening = (
      { actor }: typeof ours,
      serviceIds: string[],
      severity: "minor" | "critical",
    ) => ({
      actor,
      input: { title: severity, severity, serviceIds, openedBy: `metrics:${serviceIds[0]}`, at },
    });
    const [checkout, search] = ours.ids as [string, string];
    const openings = [
      opening(ours, [checkout], "minor"),
      opening(theirs, theirs.ids, "critical"),
      opening(ours, [checkout], "critical"),
      opening(ours, [search, checkout], "minor"),
    ];
    const { incidents: opened, changes } = await inTransaction(database, (tx) =>
      openIncidentsIn(tx, openings),
    );
    expect(opened.map((incident) => incident?.title)).toEqual([
      "minor",
      "critical",
      undefined,
      "minor",
    ]);
    const changed = changes.map(({ serviceId, organizationId, previous, current }) => ({
      serviceId,
      organizationId,
      previous,
      current,
    }));
    const change = (
      { actor: { organizationId } }: typeof ours,
      serviceId: string,
      current: string,
    ) => ({ serviceId, organizationId, previous: "operational", current });
    expect(new Set(changed)).toEqual(
      new Set([
        change(ours, checkout, "degraded"),
        change(ours, search, "degraded"),
        change(theirs, theirs.ids[0]!, "major_outage"),
      ]),
    );
    expect(await incidentEvents(ours.actor)).toHaveLength(2);
    expect(await incidentEvents(theirs.actor)).toHaveLength(1);
    expect(await inTransaction(database, (tx) => openIncidentsIn(tx, openings))).toEqual({
      incidents: [null, null, null, null],
      changes: [],
    });
    expect(await inTransaction(database, (tx) => openIncidentsIn(tx, []))).toEqual({
      incidents: [],
      changes: [],
    });
  });

  it("leaves out services that are gone or another organization's", async () => {
    const [{ actor }, other] = [await makeOrganization(), await makeOrganization("Theirs")];
    const opened = await inTransaction(database, (tx) => openIncidentIn(tx, actor, { title: "Odd", serviceIds: [newId(), ...other.ids], at }));
    expect((await getIncident(database, actor.organizationId, opened!.id)).services).toEqual([]);
    expect(await statusOf(other.ids[0]!)).toMatchObject({ status: "operational" });
  });
});

describe("services of an incident", () => {
  it.each([
    { name: "an unknown name", services: ["Checkout", "Nowhere"], path: "/services/1", sentence: "There is no service with the name or id \"Nowhere\"." },
    { name: "a name that two share", services: ["Twin"], path: "/services/0", sentence: "2 services are called \"Twin\"." },
    { name: "an unknown id", services: ["Checkout", "Checkout", "00000000-0000-4000-8000-000000000000"], path: "/services/2", sentence: "There is no service with the name or id \"00000000-0000-4000-8000-000000000000\"." },
  ])("cannot be $name, and nothing is written", async ({ services, path, sentence }) => {
    const { actor } = await makeOrganization("Checkout", "Twin", "Twin");
    await expect(open(actor, { title: "X", services })).rejects.toMatchObject({ code: "INVALID_REQUEST", message: sentence, details: { path } });
    expect([await list(actor), await toldOf(actor), await auditOf(actor)]).toEqual([[], [], []]);
  });

  it("may be called like another's id", async () => {
    const { actor, ids } = await makeOrganization("Checkout", "11111111-1111-4111-8111-111111111111");
    const { services } = await open(actor, { title: "X", services: ["11111111-1111-4111-8111-111111111111", ids[0]] });
    expect(services.map(({ id }) => id).sort()).toEqual([...ids].sort());
  });
});

describe("another organization", () => {
  it("meets the same sentence for its neighbour's incident as for one that does not exist", async () => {
    const [mine, theirs] = [await makeOrganization("Checkout"), await makeOrganization("Checkout")];
    const { id } = await open(theirs.actor, { title: "Theirs", services: ["Checkout"] });
    for (const foreign of [id, newId(), "nonsense", ""]) {
      const attempts = [
        () => getIncident(database, mine.actor.organizationId, foreign),
        () => updateIncident(database, mine.actor, foreign, { title: "Mine" }, at),
        () => addUpdate(mine.actor, foreign, {}, at),
        () => deleteIncident(database, mine.actor, foreign, at),
      ];
      for (const attempt of attempts) await expect(attempt()).rejects.toMatchObject({ code: "NOT_FOUND", message: "No such incident.", details: {} });
    }
    await expect(open(mine.actor, { title: "Mine", services: theirs.ids })).rejects.toMatchObject({ code: "INVALID_REQUEST", details: { path: "/services/0" } });
    expect(await list(mine.actor)).toEqual([]);
    expect(await list(mine.actor, { service_id: theirs.ids[0] })).toEqual([]);
    expect(await getIncident(database, theirs.actor.organizationId, id)).toMatchObject({ title: "Theirs", updates: [] });
  });
});

describe("the list", () => {
  it("is newest first, can be filtered and paged, and clamps its limit", async () => {
    const { actor, ids } = await makeOrganization("Checkout", "Search");
    for (let n = 0; n < 4; n++) await open(actor, { title: `Incident ${n}`, status: n % 2 ? "resolved" : "investigating", services: n < 2 ? ["Checkout"] : ["Search", "Checkout"] }, later(n));
    const titles = async (query: object) => (await list(actor, query)).map(({ title }) => title);
    expect(await titles({})).toEqual(["Incident 3", "Incident 2", "Incident 1", "Incident 0"]);
    expect(await titles({ status: "resolved" })).toEqual(["Incident 3", "Incident 1"]);
    expect(await titles({ service_id: ids[1] })).toEqual(["Incident 3", "Incident 2"]);
    expect(await titles({ service_id: "nonsense" })).toEqual([]);
    expect(await titles({ limit: "2", offset: "1" })).toEqual(["Incident 2", "Incident 1"]);
    expect(await titles({ limit: "0" })).toEqual(["Incident 3"]);
    expect(IncidentListQuery.parse({ limit: "5000" }).limit).toBe(100);
    expect(IncidentListQuery.safeParse({ limit: "many" }).success).toBe(false);
  });

  it("takes the same number of statements for one incident as for many", async () => {
    const { actor } = await makeOrganization("Checkout", "Search");
    let statements = 0;
    const counted = drizzle({ client: database.$client, schema: tables, logger: { logQuery: () => void statements++ } });
    const count = async () => {
      statements = 0;
      const found = JSON.parse(await listIncidents(counted, actor.organizationId, IncidentListQuery.parse({}))) as unknown[];
      return { statements, found: found.length };
    };
    await open(actor, { title: "One", message: "words", services: ["Checkout"] });
    expect(await count()).toEqual({ statements: 1, found: 1 });
    for (let n = 0; n < 15; n++) await open(actor, { title: `More ${n}`, message: "words", services: ["Checkout", "Search"] });
    expect(await count()).toEqual({ statements: 1, found: 16 });
    expect(await database.$count(incidents, eq(incidents.organizationId, actor.organizationId))).toBe(16);
  });
});
