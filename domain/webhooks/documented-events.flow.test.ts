import { readFileSync } from "node:fs";
import { join } from "node:path";
import { eq } from "drizzle-orm";
import { afterAll, beforeAll, expect, it } from "vitest";
import { newId } from "../../platform/ids.ts";
import { inTransaction, type Database } from "../../platform/postgres/database.ts";
import { PROJECT_ROOT } from "../../platform/root.ts";
import { domainMonitors, errorSignatures, events, organizations, services, type incidents, type maintenanceWindows } from "../../schemas/tables/all.ts";
import { EVENT_TYPES } from "../../schemas/vocabulary.ts";
import { freshDatabase } from "../../testing/postgres.ts";
import { systemActor } from "../actor.ts";
import { testWebhook } from "../deliveries/send-now.ts";
import { recordOccurrences } from "../errors/record.ts";
import { rowsOfBody } from "../errors/rows-of-body.ts";
import { emitEvents, type NewEvent } from "../events/emit.ts";
import { heartbeatMissed, monitorDown, monitorUp } from "../heartbeats/monitor-events.ts";
import { incidentEvent } from "../incidents/describe.ts";
import { maintenanceEvent } from "../maintenance/describe.ts";
import { applyDomainCheck } from "../monitors/domain/record.ts";
import { checkEvents } from "../monitors/ssl/monitor-events.ts";
import { changeOpinions, startStatus } from "../services/change-status.ts";
import { createWebhook } from "./create.ts";

const at = new Date("2026-01-31T12:00:00.000Z");
const [organizationId, serviceId] = [newId(), newId()];
let fresh: Awaited<ReturnType<typeof freshDatabase>>;
let database: Database;
beforeAll(async () => {
  fresh = await freshDatabase();
  database = fresh.database;
  await database.insert(organizations).values({ id: organizationId, name: "Acme", plan: "team" });
  await database.insert(services).values({ id: serviceId, organizationId, name: "Shop" });
});
afterAll(() => fresh.drop());

/** The guide's table: each event with the fields of its data. */
function documented(): Map<string, string[]> {
  const guide = readFileSync(join(PROJECT_ROOT, "docs/webhooks.md"), "utf8");
  const table = guide.slice(guide.indexOf("## Events"), guide.indexOf("## Answering"));
  return new Map([...table.matchAll(/^\| `([a-z_.]+)` \| (.+) \|$/gm)].map(([, event, fields]) => [event!, [...fields!.matchAll(/`(\w+)`/g)].map(([, field]) => field!).toSorted()]));
}

/** Events as the places that make them describe what happened. */
function described(): NewEvent[] {
  const incident = { id: newId(), organizationId, title: "Down", status: "investigating", severity: "major", startedAt: at, resolvedAt: at } as typeof incidents.$inferSelect;
  const window = { id: newId(), organizationId, title: "Move", description: "", status: "scheduled", startsAt: at, endsAt: at } as typeof maintenanceWindows.$inferSelect;
  const subject = { id: newId(), organizationId, name: "Shop" };
  const ssl = { id: newId(), organizationId, domain: "shop.example.com", port: 443 } as Parameters<typeof checkEvents>[0];
  const certificate = { days_until_expiry: 3, valid_to: at.toISOString(), issuer: "CA", subject: "shop", fingerprint: "00" };
  const decision = { tell: { down: true, up: true, expiring: true }, certificate, error: "expired" } as unknown as Parameters<typeof checkEvents>[1];
  const of = { services: [{ name: "Shop" }], message: "We look into it.", at };
  return [
    incidentEvent({ type: "incident.created", incident, ...of }),
    incidentEvent({ type: "incident.updated", incident, previous: "identified", ...of }),
    incidentEvent({ type: "incident.resolved", incident, previous: "identified", ...of }),
    incidentEvent({ type: "incident.deleted", incident, ...of }),
    ...(["maintenance.scheduled", "maintenance.started", "maintenance.completed"] as const).map((type) => maintenanceEvent({ type, window, ...of })),
    monitorDown(subject, "No ping came.", at),
    monitorUp(subject, at),
    heartbeatMissed(subject, { lastPingAt: null, expectedAt: at }, at),
    ...checkEvents(ssl, decision, at),
  ];
}

/** What has no place of its own that describes it, by making it happen. */
async function makeHappen(): Promise<void> {
  const actor = systemActor(organizationId, "Test");
  await inTransaction(database, async (tx) => {
    await startStatus(tx, { id: serviceId, organizationId }, "operational", at);
    await changeOpinions(tx, [{ serviceId, source: "metrics", status: "partial_outage", reason: "error_rate" }], at);
    const [monitor] = await tx.insert(domainMonitors).values({ id: newId(), organizationId, domain: "example.com", alertDays: 30, lookupMethod: "rdap", dueAt: at, createdAt: at, updatedAt: at }).returning();
    for (const expiry of ["2026-02-03T00:00:00.000Z", "2026-01-03T00:00:00.000Z"]) {
      const registration = { registrar: "R", registrar_url: null, created_date: null, updated_date: null, expiry_date: expiry, nameservers: [], status: [] };
      await applyDomainCheck(tx, monitor!, { lookup: { kind: "found", registration, error: null }, at, ends: true });
    }
  });
  const body = Buffer.from(JSON.stringify({ key: "bpk_x", events: [{ type: "error", error_type: "TypeError", message: "pay is broken", stack: "pay@https://x.io/app.js:3:5" }] }));
  const happen = (offset: bigint, receivedAt: number) => inTransaction(database, (tx) => recordOccurrences(tx, rowsOfBody({ body, receivedAt, organizationId, serviceId }, { logId: "log", partition: 0, offset, edgeId: newId(), sequence: 1n, entryIndex: 0, firstIndex: 0 })));
  await happen(1n, at.getTime());
  await database.update(errorSignatures).set({ status: "resolved", resolvedAt: at }).where(eq(errorSignatures.organizationId, organizationId));
  await happen(2n, at.getTime() + 1_000);
  const { webhook } = await createWebhook({ database, config: { WEBHOOK_ALLOW_HTTP: false, OUTBOUND_PORTS: [], OUTBOUND_ALLOW: [] } }, actor, { name: "Hook", url: "https://hooks.example.com/", events: ["incident.created"], headers: {} }, at);
  await testWebhook(database, organizationId, webhook.id, { at, waitMs: 0 });
}

it("the guide names every event, and of each the fields that it has", async () => {
  await inTransaction(database, (tx) => emitEvents(tx, described()));
  await makeHappen();
  const rows = await database.select().from(events).where(eq(events.organizationId, organizationId));
  const guide = documented();
  expect([...guide.keys()].toSorted()).toEqual([...EVENT_TYPES].toSorted());
  expect([...new Set(rows.map(({ type }) => type))].toSorted()).toEqual([...EVENT_TYPES].toSorted());
  for (const { type, data } of rows) expect({ type, fields: Object.keys(data).toSorted() }).toEqual({ type, fields: guide.get(type) });
});
