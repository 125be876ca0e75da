import { eq, inArray } from "drizzle-orm";
import { drizzle } from "drizzle-orm/node-postgres";
import { afterAll, beforeAll, expect, it } from "vitest";
import { newId } from "../../../platform/ids.ts";
import { asDatabase, type Database } from "../../../platform/postgres/database.ts";
import * as tables from "../../../schemas/tables/all.ts";
import { freshDatabase } from "../../../testing/postgres.ts";
import { recordUptimeCheck } from "./record.ts";

const { incidents, incidentServices, organizations, services, uptimeMonitors } = tables;

const NOW = new Date("2026-05-04T12:00:00Z");

let database: Database;
let drop: () => Promise<void>;

beforeAll(async () => ({ database, drop } = await freshDatabase()));
afterAll(() => drop());

interface Watched {
  id: string;
  organizationId: string;
  serviceId: string;
  leaseToken: string;
  name: string;
}

/**
 * Monitors of two organizations in turns, each with a service of its own; a failed check takes them
 * down.
 */
async function makeWatched(count: number): Promise<Watched[]> {
  const owners = [newId(), newId()];
  await database
    .insert(organizations)
    .values(owners.map((id) => ({ id, name: "Acme", plan: "team" as const })));
  const rows = Array.from({ length: count }, (_, n) => ({
    id: newId(),
    organizationId: owners[n % 2]!,
    serviceId: newId(),
    leaseToken: newId(),
    name: `Shop ${n}`,
    url: "https://shop.example/",
    method: "GET",
    headers: {},
    intervalSeconds: 60,
    timeoutMs: 20_000,
    expectedStatusCodes: [],
    followRedirects: true,
    verifySsl: true,
    failuresToDown: 1,
    successesToUp: 1,
    createIncident: true,
    status: "up" as const,
    dueAt: NOW,
    createdAt: NOW,
    updatedAt: NOW,
  }));
  await database
    .insert(services)
    .values(rows.map(({ serviceId: id, organizationId, name }) => ({ id, organizationId, name })));
  await database.insert(uptimeMonitors).values(rows);
  return rows;
}

const check = (on: Database, { id, leaseToken }: Watched, error: string | null) =>
  recordUptimeCheck(on, id, {
    token: leaseToken,
    at: NOW,
    result: {
      error,
      statusCode: null,
      responseTimeMs: 10,
      dnsMs: 1,
      connectMs: 2,
      tlsMs: null,
      firstByteMs: null,
    },
  });
const incidentsOf = (watched: Watched[]) =>
  database
    .select()
    .from(incidents)
    .where(
      inArray(
        incidents.openedBy,
        watched.map(({ id }) => `uptime:${id}`),
      ),
    );
const claimAgain = async ({ id, leaseToken }: Watched, more: object) =>
  database
    .update(uptimeMonitors)
    .set({ leaseToken, ...more })
    .where(eq(uptimeMonitors.id, id));

it("opens incidents of monitors that fall together by as many statements for 200 as for two", async () => {
  let statements = 0;
  const counted = drizzle({
    client: database.$client,
    schema: tables,
    logger: { logQuery: () => void statements++ },
  });
  const count = async (watched: Watched[]) => {
    statements = 0;
    // The first check goes at once, the others wait for it and go together.
    const verdicts = await counted.transaction((tx) =>
      Promise.all(watched.map((each) => check(asDatabase(tx), each, "connection refused"))),
    );
    expect(new Set(verdicts)).toEqual(new Set(["down"]));
    return statements;
  };
  const few = await count(await makeWatched(3));
  const watched = await makeWatched(201);
  expect(await count(watched)).toBe(few);

  const serviceIds = watched.map(({ serviceId }) => serviceId);
  const opened = new Map((await incidentsOf(watched)).map((row) => [row.openedBy, row]));
  const links = new Map(
    (
      await database
        .select()
        .from(incidentServices)
        .where(inArray(incidentServices.serviceId, serviceIds))
    ).map((row) => [row.serviceId, row.incidentId]),
  );
  const states = new Map(
    (
      await database
        .select()
        .from(services)
        .where(inArray(services.id, serviceIds))
    ).map((row) => [row.id, row.status]),
  );
  const rows = new Map(
    (
      await database
        .select()
        .from(uptimeMonitors)
        .where(
          inArray(
            uptimeMonitors.id,
            watched.map(({ id }) => id),
          ),
        )
    ).map((row) => [row.id, row]),
  );
  for (const { id, organizationId, serviceId, name } of watched) {
    const incident = opened.get(`uptime:${id}`)!;
    expect(incident).toMatchObject({
      organizationId,
      title: `${name} is down`,
      severity: "critical",
      status: "investigating",
      startedAt: NOW,
    });
    expect(rows.get(id)).toMatchObject({ status: "down", incidentId: incident.id });
    expect([links.get(serviceId), states.get(serviceId)]).toEqual([incident.id, "major_outage"]);
  }
});

it("keeps the incident that a monitor has open, and resolves another's, beside new ones", async () => {
  const watched = await makeWatched(4);
  const [fallen, recovering, fresh] = watched.slice(1) as [Watched, Watched, Watched];
  await Promise.all(
    [fallen, recovering].map((each) => check(database, each, "connection refused")),
  );
  const before = new Map((await incidentsOf(watched)).map(({ openedBy, id }) => [openedBy, id]));
  expect(before.size).toBe(2);
  // As after somebody paused it and let it go on.
  await claimAgain(fallen, { status: "up" });
  await claimAgain(recovering, {});
  const checks: [Watched, string | null][] = [
    [watched[0]!, "refused"],
    [fallen, "refused"],
    [recovering, null],
    [fresh, "refused"],
  ];
  await Promise.all(checks.map(([each, error]) => check(database, each, error)));

  const after = new Map((await incidentsOf(watched)).map((row) => [row.openedBy, row]));
  expect(after.size).toBe(4);
  const rows = new Map(
    (
      await database
        .select()
        .from(uptimeMonitors)
        .where(
          inArray(
            uptimeMonitors.id,
            watched.map(({ id }) => id),
          ),
        )
    ).map((row) => [row.id, row]),
  );
  for (const [{ id }, error] of checks) {
    const incident = after.get(`uptime:${id}`)!;
    expect(incident).toMatchObject({ status: error === null ? "resolved" : "investigating" });
    expect(rows.get(id)!.incidentId).toBe(error === null ? null : incident.id);
  }
  for (const { id } of [fallen, recovering])
    expect(after.get(`uptime:${id}`)!.id).toBe(before.get(`uptime:${id}`));
});
