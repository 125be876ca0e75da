import { eq } from "drizzle-orm";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { newId } from "../../platform/ids.ts";
import { ErrorListQuery } from "../../schemas/api/errors.ts";
import { errorAliases, errorSignatures, organizations, services } from "../../schemas/tables/all.ts";
import { freshClickHouse } from "../../testing/clickhouse.ts";
import { freshDatabase } from "../../testing/postgres.ts";
import { listErrors } from "./list.ts";

const NOW = Date.UTC(2026, 0, 31, 12, 30);
const HOUR = 3_600_000;

let stores: { database: Awaited<ReturnType<typeof freshDatabase>>["database"]; clickhouse: Awaited<ReturnType<typeof freshClickHouse>>["clickhouse"] };
let asked: string[] = [];
let close: () => Promise<unknown>;
beforeAll(async () => {
  const [postgres, clickhouse] = await Promise.all([freshDatabase(), freshClickHouse()]);
  const query: typeof clickhouse.clickhouse.query = (statement, ...more) => {
    asked.push(statement);
    return clickhouse.clickhouse.query(statement, ...more);
  };
  stores = { database: postgres.database, clickhouse: { ...clickhouse.clickhouse, query } };
  close = () => Promise.all([postgres.drop(), clickhouse.drop()]);
});
afterAll(() => close());

/** One event of a signature, so many hours ago. */
interface Event {
  signature: string;
  hoursAgo: number;
  release?: string;
}

/** A service with these signatures, by names; `merged` names those that became part of another. Gives ids by name. */
async function happened(sent: Event[], merged: Record<string, string> = {}) {
  const [organizationId, serviceId] = [newId(), newId()];
  await stores.database.insert(organizations).values({ id: organizationId, name: "Shop", plan: "team" });
  await stores.database.insert(services).values({ id: serviceId, organizationId, name: "Web" });
  const ids = new Map([...new Set(sent.map(({ signature }) => signature))].map((name) => [name, newId()]));
  const moment = (hoursAgo: number) => new Date(NOW - hoursAgo * HOUR);
  const rows = sent.map(({ signature, hoursAgo, release = "1" }, index) => {
    const at = moment(hoursAgo).toISOString().replace("T", " ").replace("Z", "");
    return { organization_id: organizationId, service_id: serviceId, signature_id: ids.get(signature), event_id: newId(), index, type: "error", received_at: at, occurred_at: at, release, environment: "production" };
  });
  await stores.clickhouse.insert("beacon_events", rows, {});
  const kept = [...ids].filter(([name]) => !(name in merged));
  // Rows as the processors would leave them.
  await stores.database.insert(errorSignatures).values(
    kept.map(([name, id]) => {
      const hours = sent.filter(({ signature }) => (merged[signature] ?? signature) === name).map(({ hoursAgo }) => hoursAgo);
      return {
        id, organizationId, serviceId, groupingVersion: "v1", fingerprint: name, type: "TypeError", message: name, category: "javascript" as const, priority: "low" as const, handled: false, release: "1", environment: "production",
        occurrences: hours.length, firstSeen: moment(Math.max(...hours)), lastSeen: moment(Math.min(...hours)),
      };
    }),
  );
  const aliases = Object.entries(merged).map(([from, into]) => ({ id: ids.get(from)!, organizationId, signatureId: ids.get(into)! }));
  if (aliases.length > 0) await stores.database.insert(errorAliases).values(aliases);
  return organizationId;
}

async function list(organizationId: string, query: Record<string, string>) {
  asked = [];
  const { errors, total } = await listErrors(stores, organizationId, ErrorListQuery.parse(query), NOW);
  return { names: errors.map(({ message }) => message), total };
}

const between = { start_date: new Date(NOW - 6 * HOUR).toISOString(), end_date: new Date(NOW - 4 * HOUR).toISOString() };
const ofEvents = () => asked.filter((statement) => statement.includes("beacon_events")).length;

describe("errors between two moments", () => {
  it("are those with an event there, also under the id of one that they took in", async () => {
    const around = (signature: string) => [10, 1].map((hoursAgo) => ({ signature, hoursAgo }));
    const organizationId = await happened(
      [...around("around"), ...around("around and within"), { signature: "around and within", hoursAgo: 5 }, ...around("by a merged one"), { signature: "merged", hoursAgo: 5 }, { signature: "within", hoursAgo: 4.5 }, { signature: "before", hoursAgo: 7 }, { signature: "after", hoursAgo: 3 }],
      { merged: "by a merged one" },
    );
    const found = await list(organizationId, between);
    expect({ ...found, names: found.names.toSorted() }).toEqual({ names: ["around and within", "by a merged one", "within"], total: 3 });
    expect(ofEvents()).toBe(1);
    expect(await list(organizationId, { ...between, release: "2" })).toEqual({ names: [], total: 0 });
    expect(await list(organizationId, { start_date: between.end_date, end_date: between.start_date })).toEqual({ names: [], total: 0 });
  });

  it("at a moment of their first or last event need no look at all events", async () => {
    const organizationId = await happened([{ signature: "first", hoursAgo: 6 }, { signature: "first", hoursAgo: 1 }, { signature: "last", hoursAgo: 9 }, { signature: "last", hoursAgo: 4 }]);
    expect(await list(organizationId, between)).toEqual({ names: ["first", "last"], total: 2 });
    expect(ofEvents()).toBe(0);
  });

  it("are counted exactly where more are undecided than are asked for by themselves", async () => {
    const sent = Array.from({ length: 1_200 }, (_, number) => [10, 1, ...(number % 3 === 0 ? [5] : [])].map((hoursAgo) => ({ signature: `s${number}`, hoursAgo }))).flat();
    const organizationId = await happened(sent, { s3: "s1" });
    expect((await list(organizationId, between)).total).toBe(400);
    expect((await list(organizationId, { ...between, offset: "390", limit: "100" })).names).toHaveLength(10);
    expect(await list(organizationId, { ...between, offset: "400" })).toEqual({ names: [], total: 400 });
  });
});

it("errors of a release are those with an event of it, whatever their first was, also by one that they took in", async () => {
  const organizationId = await happened(
    [{ signature: "both", hoursAgo: 9 }, { signature: "both", hoursAgo: 2, release: "2" }, { signature: "old", hoursAgo: 3 }, { signature: "into", hoursAgo: 4 }, { signature: "merged", hoursAgo: 5, release: "2" }],
    { merged: "into" },
  );
  expect(await list(organizationId, { release: "2" })).toEqual({ names: ["both", "into"], total: 2 });
  expect(await list(organizationId, { release: "2", status: "resolved" })).toEqual({ names: [], total: 0 });
  expect(await list(organizationId, { release: "2", offset: "1" })).toEqual({ names: ["into"], total: 2 });
  await stores.database.update(errorSignatures).set({ status: "resolved" }).where(eq(errorSignatures.message, "into"));
  expect(await list(organizationId, { release: "2", status: "resolved", start_date: new Date(NOW - 5 * HOUR).toISOString() })).toEqual({ names: ["into"], total: 1 });
});
