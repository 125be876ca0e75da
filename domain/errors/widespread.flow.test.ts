import { afterAll, beforeAll, expect, test } from "vitest";
import type { ClickHouse } from "../../platform/clickhouse/port.ts";
import { newId } from "../../platform/ids.ts";
import type { Database } from "../../platform/postgres/database.ts";
import { errorAliases, errorSignatures } from "../../schemas/tables/all.ts";
import { freshClickHouse } from "../../testing/clickhouse.ts";
import { freshDatabase } from "../../testing/postgres.ts";
import { createOrganization } from "../organizations/create.ts";
import { findWidespread, WIDESPREAD_SQL } from "./widespread.ts";

const NOW = Date.now();
const SIGNATURES = 200_000;

let stores: { database: Database; clickhouse: ClickHouse };
let drops: (() => Promise<void>)[];
let organizationId: string;
let serviceId: string;
beforeAll(async () => {
  const [postgres, clickhouse] = await Promise.all([freshDatabase(), freshClickHouse()]);
  stores = { database: postgres.database, clickhouse: clickhouse.clickhouse };
  drops = [postgres.drop, clickhouse.drop];
  ({ organizationId, serviceId } = await createOrganization(stores.database, { name: "Shop", plan: "team" }));
  // What has gathered over the months: many signatures of many services.
  await stores.clickhouse.query(`INSERT INTO signature_slots (slot, service_id, signature_id, sessions) SELECT now(), toUUID(concat('00000000-0000-4000-8000-', leftPad(toString(number % 50), 12, '0'))), generateUUIDv4(), uniqExactState(toString(number)) FROM numbers(${SIGNATURES}) GROUP BY number`);
});
afterAll(async () => {
  for (const drop of drops) await drop();
});

async function makeSignature({ occurrences = 1_000, lastSeen = NOW }: { occurrences?: number; lastSeen?: number } = {}): Promise<string> {
  const id = newId();
  const seen = new Date(lastSeen);
  await stores.database.insert(errorSignatures).values({ id, organizationId, serviceId, groupingVersion: "1", fingerprint: id, type: "TypeError", message: "m", category: "javascript", priority: "low", handled: false, occurrences, firstSeen: seen, lastSeen: seen, release: "", environment: "production" } as typeof errorSignatures.$inferInsert);
  return id;
}

async function meet(signatureId: string, { from = 0, to, hoursAgo = 0 }: { from?: number; to: number; hoursAgo?: number }): Promise<void> {
  await stores.clickhouse.query(`INSERT INTO signature_slots (slot, service_id, signature_id, sessions) SELECT toStartOfInterval(now() - INTERVAL ${hoursAgo} HOUR, INTERVAL 6 HOUR), toUUID('${serviceId}'), toUUID('${signatureId}'), uniqExactState(toString(number)) FROM numbers(${from}, ${to - from})`);
}

test("finds what many sessions met within a day, over its aliases too, and reads no other signatures' granules", async () => {
  const [wide, narrow, old, merged, rare] = [await makeSignature(), await makeSignature(), await makeSignature(), await makeSignature(), await makeSignature({ occurrences: 100 })];
  const alias = newId();
  await stores.database.insert(errorAliases).values({ id: alias, organizationId, signatureId: merged });
  await Promise.all([meet(wide, { to: 101 }), meet(narrow, { to: 100 }), meet(old, { to: 500, hoursAgo: 40 }), meet(merged, { to: 60 }), meet(alias, { from: 60, to: 120 }), meet(rare, { to: 500 })]);
  expect((await findWidespread(stores, { sessions: 100, now: NOW })).toSorted()).toEqual([wide, merged].toSorted());

  const parameters = { services: [serviceId], ids: [wide, narrow], from: [""], to: [""], since: NOW - 86_400_000, sessions: 100 };
  const plan = (await stores.clickhouse.query<{ explain: string }>(`EXPLAIN indexes = 1 ${WIDESPREAD_SQL}`, parameters)).map(({ explain }) => explain).join("\n");
  const granules = [...plan.matchAll(/Granules: (\d+)\/(\d+)/g)].map(([, read, all]) => [Number(read), Number(all)] as const);
  expect(Math.max(...granules.map(([, all]) => all))).toBeGreaterThan(SIGNATURES / 128);
  expect(Math.min(...granules.map(([read]) => read))).toBeLessThanOrEqual(20);
});
