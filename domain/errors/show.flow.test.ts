import { afterAll, beforeAll, expect, test } from "vitest";
import type { ClickHouse } from "../../platform/clickhouse/port.ts";
import { newId } from "../../platform/ids.ts";
import type { Database } from "../../platform/postgres/database.ts";
import { errorAliases, errorSignatures } from "../../schemas/tables/all.ts";
import { freshClickHouse } from "../../testing/clickhouse.ts";
import { freshDatabase } from "../../testing/postgres.ts";
import { createOrganization } from "../organizations/create.ts";
import { MOST_COUNTED, sessionsOf } from "./show.ts";

const MANY = 60_000;

let stores: { database: Database; clickhouse: ClickHouse };
let drops: (() => Promise<void>)[];
let place: { organizationId: string; serviceId: string };
beforeAll(async () => {
  const [postgres, clickhouse] = await Promise.all([freshDatabase(), freshClickHouse()]);
  stores = { database: postgres.database, clickhouse: clickhouse.clickhouse };
  drops = [postgres.drop, clickhouse.drop];
  place = await createOrganization(stores.database, { name: "Shop", plan: "team" });
});
afterAll(async () => {
  for (const drop of drops) await drop();
});

/** Events over three days of which each but the first half comes from a session of its own; through the view, as they come. */
async function happen(signatureId: string, sessions: number): Promise<void> {
  await stores.clickhouse.command(
    `INSERT INTO beacon_events (organization_id, service_id, signature_id, type, received_at, occurred_at, session_id)
     SELECT {organization:UUID}, {service:UUID}, {signature:UUID}, 'error', at, at, concat({signature:String}, toString(number % {sessions:UInt32}))
     FROM (SELECT number, now64(3, 'UTC') - toIntervalHour(number % 72) AS at FROM numbers({events:UInt32}))`,
    { organization: place.organizationId, service: place.serviceId, signature: signatureId, sessions, events: sessions * 2 },
  );
}

test("sessions of an error are exact, and of one with very many occurrences nearly so, with those of what became part of it", async () => {
  const [few, many, merged] = [newId(), newId(), newId()];
  await stores.database.insert(errorSignatures).values([few, many].map((id) => ({ id, organizationId: place.organizationId, serviceId: place.serviceId, groupingVersion: "v1", fingerprint: id, type: "TypeError", message: "m", category: "javascript" as const, priority: "low" as const, handled: false, release: "", environment: "production", occurrences: 1, firstSeen: new Date(), lastSeen: new Date() })));
  await stores.database.insert(errorAliases).values({ id: merged, organizationId: place.organizationId, signatureId: many });
  await happen(few, MOST_COUNTED / 2);
  await happen(many, MANY);
  await happen(merged, MANY);

  const { serviceId } = place;
  const rows = [{ id: few, serviceId, occurrences: MOST_COUNTED }, { id: many, serviceId, occurrences: 4 * MANY }];
  const both = await sessionsOf(stores, rows);
  expect(both.get(few)).toBe(MOST_COUNTED / 2);
  expect(Math.abs(both.get(many)! / (2 * MANY) - 1)).toBeLessThan(0.04);
  expect(both.get(many)).not.toBe(2 * MANY);
  for (const row of rows) expect(await sessionsOf(stores, [row])).toEqual(new Map([[row.id, both.get(row.id)]]));
  expect(await sessionsOf(stores, [])).toEqual(new Map());
});
