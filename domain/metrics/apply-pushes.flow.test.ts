import { eq } from "drizzle-orm";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { newId } from "../../platform/ids.ts";
import { inTransaction, type Database } from "../../platform/postgres/database.ts";
import { events, incidents, metricStates, organizations, serviceOpinions, services } from "../../schemas/tables/all.ts";
import { DEFAULT_THRESHOLDS, type Thresholds } from "../../schemas/thresholds.ts";
import { freshDatabase } from "../../testing/postgres.ts";
import { systemActor } from "../actor.ts";
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
