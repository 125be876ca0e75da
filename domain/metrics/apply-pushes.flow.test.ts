import { asc, eq, inArray } from "drizzle-orm";
import { drizzle } from "drizzle-orm/node-postgres";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { newId } from "../../platform/ids.ts";
import { inTransaction, type Database } from "../../platform/postgres/database.ts";
import * as tables from "../../schemas/tables/all.ts";
import {
  auditEntries,
  events,
  incidents,
  incidentServices,
  incidentUpdates,
  metricStates,
  organizations,
  serviceOpinions,
  services,
  serviceStatusHistory,
} from "../../schemas/tables/all.ts";
import { DEFAULT_THRESHOLDS, type Thresholds } from "../../schemas/thresholds.ts";
import { freshDatabase } from "../../testing/postgres.ts";
import { systemActor } from "../actor.ts";
import { updateIncident } from "../incidents/change.ts";
import { changeOpinions } from "../services/change-status.ts";
import { updateService } from "../services/update.ts";
import { applyPushes, type ReceivedPush } from "./apply-pushes.ts";
import { evaluateBatch } from "./evaluate-batch.ts";

const NOW = new Date("2026-05-04T12:00:00Z");

let database: Database;
let drop: () => Promise<void>;
let organizationId: string;
let serviceId: string;

beforeAll(async () => ({ database, drop } = await freshDatabase()));
afterAll(() => drop());

beforeEach(async () => {
  organizationId = newId();
  await database.insert(organizations).values({ id: organizationId, name: "Acme", plan: "team" });
  serviceId = await addService("Checkout");
});

async function addService(name: string, thresholds?: Partial<Thresholds>): Promise<string> {
  const id = newId();
  await database.insert(services).values({ id, organizationId, name, ...(thresholds && { thresholds: { ...DEFAULT_THRESHOLDS, ...thresholds } }) });
  return id;
}

const push = (metrics: Record<string, number>, more: Partial<ReceivedPush> = {}): ReceivedPush => {
  const to = more.serviceId ?? serviceId;
  return { organizationId, serviceId: to, receivedAt: NOW.getTime(), push: { serviceId: to, metrics, timestamp: null }, ...more };
};
const apply = (...pushes: ReceivedPush[]) => inTransaction(database, (tx) => applyPushes(tx, pushes, { now: NOW, evaluate: evaluateBatch }));
const service = async (id = serviceId) => (await database.select().from(services).where(eq(services.id, id)))[0]!;
const told = async () => (await database.select().from(events).where(eq(events.organizationId, organizationId))).map(({ type }) => type).sort();

describe("applying pushes", () => {
  it("turns a service to partial_outage and back, with the reason in the push's own effect", async () => {
    expect(await apply(push({ error_rate: 12 }))).toEqual([
      { metrics_received: { error_rate: 12 }, status_change: { previous: "operational", current: "partial_outage", reason: "error_rate 12 is above 10" }, incident_created: null },
    ]);
    expect(await service()).toMatchObject({ status: "partial_outage", statusSource: "metrics" });
    expect(await apply(push({ error_rate: 13 }))).toEqual([{ metrics_received: { error_rate: 13 }, incident_created: null }]);
    expect(await apply(push({ error_rate: 0 }))).toMatchObject([{ status_change: { previous: "partial_outage", current: "operational", reason: "All metrics are within their limits" } }]);
    expect(await told()).toEqual(["service.status_changed", "service.status_changed"]);
  });

  it("gives each push of a batch the change that it made", async () => {
    const other = await addService("Search");
    const effects = await apply(push({ error_rate: 2 }), push({ cpu_percent: 99 }, { serviceId: other }), push({ error_rate: 60 }), push({ request_count: 5 }), push({ error_rate: 0 }));
    expect(effects.map(({ status_change: change }) => change && `${change.previous} → ${change.current}`)).toEqual([
      "operational → degraded",
      "operational → major_outage",
      "degraded → major_outage",
      undefined,
      "major_outage → operational",
    ]);
  });

  it("remembers counts between batches", async () => {
    const patient = await addService("Patient", { breaches_to_worsen: 3, clears_to_recover: 2 });
    const rate = (error_rate: number) => push({ error_rate }, { serviceId: patient });
    await apply(rate(12), rate(12));
    expect(await service(patient)).toMatchObject({ status: "operational" });
    expect(await apply(rate(12))).toMatchObject([{ status_change: { current: "partial_outage" } }]);
    await apply(rate(0));
    expect(await database.select().from(metricStates).where(eq(metricStates.serviceId, patient))).toMatchObject([{ breaches: 0, clears: 1 }]);
    expect(await apply(rate(0))).toMatchObject([{ status_change: { current: "operational" } }]);
  });

  it("judges by the organization's thresholds where the service has none of its own", async () => {
    await database.update(organizations).set({ defaultThresholds: { ...DEFAULT_THRESHOLDS, metrics: { queue_depth: { degraded: 10 } } } }).where(eq(organizations.id, organizationId));
    expect(await apply(push({ queue_depth: 11, error_rate: 99 }))).toMatchObject([{ status_change: { current: "degraded", reason: "queue_depth 11 is above 10" } }]);
  });

  it("opens one incident when the thresholds want one, and another only after it is resolved and things get worse again", async () => {
    const watched = await addService("Payments", { create_incident: true });
    const rate = (error_rate: number) => push({ error_rate }, { serviceId: watched });
    const [first] = await apply(rate(12));
    expect(first).toMatchObject({ status_change: { current: "partial_outage" }, incident_created: { title: "Payments: error_rate 12 is above 10", status: "investigating", severity: "major" } });
    expect(await apply(rate(60))).toMatchObject([{ status_change: { current: "major_outage" }, incident_created: null }]);
    await apply(rate(0));
    await database.update(incidents).set({ status: "resolved", resolvedAt: NOW }).where(eq(incidents.id, first!.incident_created!.id));
    expect(await apply(rate(12))).toMatchObject([{ incident_created: { severity: "major" } }]);
    expect((await told()).filter((type) => type === "incident.created")).toHaveLength(2);
  });

  it("tells the status that follows from the incident when that is worse than the metric", async () => {
    const watched = await addService("Payments", { create_incident: true, incident_severity: "critical" });
    expect(await apply(push({ error_rate: 2 }, { serviceId: watched }))).toMatchObject([
      { status_change: { previous: "operational", current: "major_outage" }, incident_created: { severity: "critical" } },
    ]);
  });

  it("opens no incident and changes no status while the service is in maintenance", async () => {
    const watched = await addService("Payments", { create_incident: true });
    await inTransaction(database, (tx) => changeOpinions(tx, [{ serviceId: watched, source: "maintenance", status: "maintenance", reason: "Planned." }], NOW));
    expect(await apply(push({ error_rate: 60 }, { serviceId: watched }))).toEqual([{ metrics_received: { error_rate: 60 }, incident_created: null }]);
    expect(await service(watched)).toMatchObject({ status: "maintenance" });
  });

  it("does not evaluate a push whose turn comes more than five minutes after its receipt", async () => {
    const receivedAt = NOW.getTime() - 5 * 60_000;
    expect(await apply(push({ error_rate: 60 }, { receivedAt: receivedAt - 1 }))).toEqual([{ metrics_received: { error_rate: 60 }, incident_created: null }]);
    expect(await apply(push({ error_rate: 60 }, { receivedAt }))).toMatchObject([{ status_change: { current: "major_outage" } }]);
  });

  it("has no effect on services that are gone, foreign or no ids", async () => {
    const effects = await apply(push({ error_rate: 60 }, { serviceId: newId() }), push({ error_rate: 60 }, { organizationId: newId() }), push({ error_rate: 60 }, { serviceId: "checkout" }));
    expect(effects.every((effect) => effect.status_change === undefined)).toBe(true);
    expect(await service()).toMatchObject({ status: "operational" });
    expect(await database.select().from(serviceOpinions).where(eq(serviceOpinions.serviceId, serviceId))).toEqual([]);
  });

  it("leaves alone what a person set by hand until the level changes", async () => {
    const byHand = (status: "operational" | "degraded") => updateService(database, systemActor(organizationId, "test"), serviceId, { status }, NOW);
    await apply(push({ error_rate: 12 }));
    await byHand("operational");
    expect(await apply(push({ error_rate: 13 }), push({ error_rate: 12 }))).toMatchObject([{ incident_created: null }, { incident_created: null }]);
    expect(await service()).toMatchObject({ status: "operational" });
    expect(await apply(push({ error_rate: 60 }))).toMatchObject([{ status_change: { previous: "operational", current: "major_outage" } }]);
    await byHand("degraded");
    expect(await apply(push({ error_rate: 70 }), push({ error_rate: 0 }))).toEqual([
      { metrics_received: { error_rate: 70 }, incident_created: null },
      { metrics_received: { error_rate: 0 }, incident_created: null },
    ]);
    expect(await service()).toMatchObject({ status: "degraded", statusSource: "manual" });
    expect(await apply(push({ error_rate: 12 }))).toMatchObject([{ status_change: { previous: "degraded", current: "partial_outage" } }]);
  });

  it("writes nothing when nothing changes", async () => {
    await apply(push({ error_rate: 0 }), push({ cpu_percent: 10 }));
    expect(await database.select().from(metricStates).where(eq(metricStates.serviceId, serviceId))).toEqual([]);
    expect(await told()).toEqual([]);
  });
});

describe("a mass outage", () => {
  interface Struck {
    id: string;
    organizationId: string;
    name: string;
  }

  /** Of two organizations in turns. Incidents of every other pair are worse than the metric. */
  async function makeStruck(count: number): Promise<Struck[]> {
    const other = newId();
    await database.insert(organizations).values({ id: other, name: "Other", plan: "team" });
    const rows = Array.from({ length: count }, (_, n) => ({
      id: newId(),
      organizationId: n % 2 ? other : organizationId,
      name: `Service ${n}`,
      updatedAt: NOW,
      thresholds: {
        ...DEFAULT_THRESHOLDS,
        create_incident: true,
        ...(isWorse(n) && { incident_severity: "critical" as const }),
      },
    }));
    await database.insert(services).values(rows);
    return rows;
  }
  const isWorse = (n: number) => n % 4 > 1;
  function grouped<Row>(
    rows: Row[],
    keyOf: (row: Row) => string | null,
  ): Map<string | null, Row[]> {
    const groups = new Map<string | null, Row[]>();
    for (const row of rows) groups.set(keyOf(row), [...(groups.get(keyOf(row)) ?? []), row]);
    return groups;
  }
  const breaches = (struck: Struck[]) =>
    struck.map(({ id, organizationId: owner }) =>
      push({ error_rate: 12 }, { serviceId: id, organizationId: owner }),
    );

  it("gives each push the incident and the status that it made, as if it came alone", async () => {
    const struck = await makeStruck(500);
    const effects = await apply(...breaches(struck));
    const reason = "error_rate 12 is above 10";
    expect(effects).toEqual(
      struck.map(({ name }, n) => ({
        metrics_received: { error_rate: 12 },
        status_change: {
          previous: "operational",
          current: isWorse(n) ? "major_outage" : "partial_outage",
          reason,
        },
        incident_created: {
          id: expect.any(String) as string,
          title: `${name}: ${reason}`,
          status: "investigating",
          severity: isWorse(n) ? "critical" : "major",
          started_at: NOW.toISOString(),
        },
      })),
    );

    const ids = struck.map(({ id }) => id);
    const opened = effects.map((effect) => effect.incident_created!.id);
    const linked = grouped(
      await database
        .select()
        .from(incidentServices)
        .where(inArray(incidentServices.serviceId, ids)),
      ({ serviceId: of }) => of,
    );
    const stored = grouped(
      await database.select().from(incidents).where(inArray(incidents.id, opened)),
      ({ id }) => id,
    );
    const updates = grouped(
      await database
        .select()
        .from(incidentUpdates)
        .where(inArray(incidentUpdates.incidentId, opened)),
      ({ incidentId }) => incidentId,
    );
    const audited = grouped(
      await database.select().from(auditEntries).where(inArray(auditEntries.resourceId, opened)),
      ({ resourceId }) => resourceId,
    );
    const states = grouped(
      await database.select().from(services).where(inArray(services.id, ids)),
      ({ id }) => id,
    );
    const opinions = grouped(
      await database
        .select()
        .from(serviceOpinions)
        .where(inArray(serviceOpinions.serviceId, ids))
        .orderBy(asc(serviceOpinions.source)),
      ({ serviceId: of }) => of,
    );
    const history = grouped(
      await database
        .select()
        .from(serviceStatusHistory)
        .where(inArray(serviceStatusHistory.serviceId, ids))
        .orderBy(asc(serviceStatusHistory.id)),
      ({ serviceId: of }) => of,
    );
    const owners = [...new Set(struck.map((each) => each.organizationId))];
    const serviceOf = new Map(opened.map((id, n) => [id, ids[n]!]));
    const toldOf = grouped(
      await database
        .select()
        .from(events)
        .where(inArray(events.organizationId, owners))
        .orderBy(asc(events.position)),
      ({ data }) => serviceOf.get(String(data.id)) ?? String(data.id),
    );
    for (const [n, { id, name, organizationId: owner }] of struck.entries()) {
      const [title, severity, current] = [
        `${name}: ${reason}`,
        isWorse(n) ? "critical" : "major",
        isWorse(n) ? "major_outage" : "partial_outage",
      ];
      expect(linked.get(id)).toMatchObject([{ organizationId: owner, incidentId: opened[n] }]);
      expect(stored.get(opened[n]!)).toMatchObject([
        { organizationId: owner, title, severity, openedBy: `metrics:${id}`, startedAt: NOW },
      ]);
      expect(updates.get(opened[n]!)).toMatchObject([
        { organizationId: owner, message: `Opened automatically: ${reason}.` },
      ]);
      expect(audited.get(opened[n]!)).toMatchObject([
        {
          organizationId: owner,
          actorType: "system",
          actorName: "metrics",
          action: "incident.created",
          after: { title, services: [{ id, name }] },
        },
      ]);
      expect(states.get(id)).toMatchObject([{ status: current, statusSource: "incidents" }]);
      expect(opinions.get(id)).toMatchObject([
        {
          organizationId: owner,
          source: "incidents",
          status: current,
          reason: `The incident "${title}" is open.`,
        },
        { organizationId: owner, source: "metrics", status: "partial_outage", reason },
      ]);
      const [first, second] = [
        { status: "partial_outage", source: "metrics", reason, changedAt: NOW },
        {
          status: "major_outage",
          source: "incidents",
          reason: `The incident "${title}" is open.`,
          changedAt: NOW,
        },
      ];
      expect(history.get(id)).toMatchObject(isWorse(n) ? [first, second] : [first]);
      const changed = (previous: string, next: string) => ({
        organizationId: owner,
        type: "service.status_changed",
        data: { id, name, previous_status: previous, new_status: next },
      });
      const created = {
        organizationId: owner,
        type: "incident.created",
        data: { id: opened[n], title, severity, services: [name] },
      };
      expect(toldOf.get(id)).toMatchObject([
        changed("operational", "partial_outage"),
        created,
        ...(isWorse(n) ? [changed("partial_outage", "major_outage")] : []),
      ]);
    }
  });

  it("takes as many statements for 500 services as for two", async () => {
    let statements = 0;
    const counted = drizzle({
      client: database.$client,
      schema: tables,
      logger: { logQuery: () => void statements++ },
    });
    const count = async (struck: Struck[]) => {
      statements = 0;
      const effects = await counted.transaction((tx) =>
        applyPushes(tx, breaches(struck), { now: NOW, evaluate: evaluateBatch }),
      );
      expect(
        effects.every(
          (effect) => effect.incident_created !== null && effect.status_change !== undefined,
        ),
      ).toBe(true);
      return statements;
    };
    // Of four, so that each kind of service is there.
    const few = await count((await makeStruck(4)).slice(1, 3));
    expect(await count(await makeStruck(500))).toBe(few);
  });

  it("opens none where one is open, of this batch or an earlier one, beside others that open", async () => {
    const [twice, open, resolved, fresh] = await makeStruck(4);
    const rate = ({ id, organizationId: owner }: Struck, error_rate: number) =>
      push({ error_rate }, { serviceId: id, organizationId: owner });
    const before = await apply(rate(open!, 12), rate(resolved!, 12));
    await apply(rate(open!, 0));
    await updateIncident(
      database,
      systemActor(resolved!.organizationId, "test"),
      before[1]!.incident_created!.id,
      { status: "resolved" },
      NOW,
    );

    const effects = await apply(
      rate(twice!, 2),
      rate(open!, 12),
      rate(resolved!, 0),
      rate(fresh!, 12),
      rate(twice!, 60),
      rate(resolved!, 60),
    );
    expect(effects.map(({ incident_created: incident }) => incident?.title)).toEqual([
      "Service 0: error_rate 2 is above 1",
      undefined,
      undefined,
      "Service 3: error_rate 12 is above 10",
      undefined,
      "Service 2: error_rate 60 is above 50",
    ]);
    // The incident that is open weighs on its service as the metric does.
    expect(
      effects.map(
        ({ status_change: change }) => change && `${change.previous} → ${change.current}`,
      ),
    ).toEqual([
      "operational → degraded",
      undefined,
      "partial_outage → operational",
      "operational → major_outage",
      "degraded → major_outage",
      "operational → major_outage",
    ]);
    const rows = await database
      .select({ openedBy: incidents.openedBy })
      .from(incidents)
      .where(
        inArray(
          incidents.openedBy,
          [twice!, open!, resolved!, fresh!].map(({ id }) => `metrics:${id}`),
        ),
      );
    expect(rows.map(({ openedBy }) => openedBy).sort()).toEqual(
      [twice!, open!, resolved!, resolved!, fresh!].map(({ id }) => `metrics:${id}`).sort(),
    );
  });
});
