import { eq } from "drizzle-orm";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { ClickHouse } from "../../platform/clickhouse/port.ts";
import { newId } from "../../platform/ids.ts";
import type { Database } from "../../platform/postgres/database.ts";
import { ErrorListQuery } from "../../schemas/api/errors.ts";
import { errorSignatures } from "../../schemas/tables/all.ts";
import { freshClickHouse } from "../../testing/clickhouse.ts";
import { freshDatabase } from "../../testing/postgres.ts";
import { createOrganization } from "../organizations/create.ts";
import { getError } from "./get.ts";
import { listErrors } from "./list.ts";
import { listOccurrences, MANY } from "./list-occurrences.ts";

const HOUR = 3_600_000;
const DAYS = 6;
const NOW = Date.UTC(2026, 0, 31, 12, 30);
const SIGNATURES = 40;
const EVENTS = 400;

interface Event {
  signature: number;
  at: number;
  release: string;
  environment: string;
}

let stores: { database: Database; clickhouse: ClickHouse };
let asked: { statement: string; params: Record<string, unknown> }[] = [];
let drops: (() => Promise<void>)[];
let organizationId: string;
const ids = Array.from({ length: SIGNATURES }, newId);
/** Numbers that are the same in every run. */
let seed = 7;
const below = (count: number): number => (seed = (seed * 48_271) % 2_147_483_647) % count;
const events: Event[] = Array.from({ length: EVENTS }, () => ({
  signature: below(SIGNATURES),
  at: NOW - below(DAYS * 24 * HOUR),
  release: `${below(3)}`,
  environment: ["production", "staging"][below(2)]!,
}));

beforeAll(async () => {
  const [postgres, clickhouse] = await Promise.all([freshDatabase(), freshClickHouse()]);
  const query: ClickHouse["query"] = (statement, params = {}, ...more) => {
    asked.push({ statement, params });
    return clickhouse.clickhouse.query(statement, params, ...more);
  };
  stores = { database: postgres.database, clickhouse: { ...clickhouse.clickhouse, query } };
  drops = [postgres.drop, clickhouse.drop];
  let serviceId: string;
  ({ organizationId, serviceId } = await createOrganization(stores.database, { name: "Shop", plan: "team" }));
  const rows = events.map(({ signature, at, release, environment }, index) => {
    const moment = new Date(at).toISOString().replace("T", " ").replace("Z", "");
    return { organization_id: organizationId, service_id: serviceId, signature_id: ids[signature], event_id: newId(), index, type: "error", received_at: moment, occurred_at: moment, release, environment, causes: "[]", breadcrumbs: "[]", detailed: index % 2 === 0 };
  });
  // Several parts, as they come.
  for (let from = 0; from < rows.length; from += 100) await clickhouse.clickhouse.insert("beacon_events", rows.slice(from, from + 100), {});
  const seen = [...new Set(events.map(({ signature }) => signature))];
  await stores.database.insert(errorSignatures).values(
    seen.map((signature) => {
      const moments = eventsOf({ signature }).map(({ at }) => at);
      return {
        id: ids[signature]!, organizationId, serviceId, groupingVersion: "v1", fingerprint: String(signature), type: "TypeError", message: String(signature), category: "javascript" as const, priority: "low" as const, handled: false,
        release: "0", environment: "production", occurrences: moments.length, firstSeen: new Date(Math.min(...moments)), lastSeen: new Date(Math.max(...moments)),
      };
    }),
  );
});
afterAll(async () => {
  for (const drop of drops) await drop();
});

function eventsOf({ signature, release, environment, from = 0, to = Infinity }: { signature?: number; release?: string; environment?: string; from?: number; to?: number }): Event[] {
  return events.filter((each) => (signature ?? each.signature) === each.signature && (release ?? each.release) === each.release && (environment ?? each.environment) === each.environment && each.at >= from && each.at <= to);
}

/** The signature with most events that have their details. */
function busiest(): number {
  const counts = ids.map((_, signature) => eventsOf({ signature }).filter((each) => events.indexOf(each) % 2 === 0).length);
  return counts.indexOf(Math.max(...counts));
}

async function list(query: Record<string, string>): Promise<string[]> {
  asked = [];
  const { errors } = await listErrors(stores, organizationId, ErrorListQuery.parse({ limit: "100", ...query }), NOW);
  return errors.map(({ message }) => message).toSorted();
}

const signaturesOf = (matching: Event[]): string[] => [...new Set(matching.map(({ signature }) => String(signature)))].toSorted();

/** What ClickHouse reads for the statements about events that were asked last. */
async function plansOf(which: string): Promise<string[]> {
  const statements = asked.filter(({ statement }) => statement.includes("beacon_events") && statement.includes(which));
  return Promise.all(
    statements.map(async ({ statement, params }) => {
      const plan = await stores.clickhouse.query<{ explain: string }>(`EXPLAIN ${statement}`, params);
      return plan.map(({ explain }) => explain).join("\n");
    }),
  );
}

test("errors of windows within a day and over several are those with an event there", async () => {
  for (let window = 0; window < 60; window++) {
    const from = NOW - below(DAYS * 24 * HOUR);
    const to = from + below(window % 2 === 0 ? 12 * HOUR : 60 * HOUR);
    const release = window % 3 === 0 ? undefined : `${below(3)}`;
    const environment = window % 4 === 0 ? undefined : ["production", "staging"][below(2)]!;
    const query = { start_date: new Date(from).toISOString(), end_date: new Date(to).toISOString(), ...(release !== undefined && { release }), ...(environment !== undefined && { environment }) };
    const expected = signaturesOf(eventsOf({ from, to, ...(release !== undefined && { release }), ...(environment !== undefined && { environment }) }));
    expect({ query, found: await list(query) }).toEqual({ query, found: expected });
  }
});

test("an end on a day's last and a start on its first moment take their events", async () => {
  const { at, signature } = events[0]!;
  const day = Math.floor(at / (24 * HOUR)) * 24 * HOUR;
  const moments = { start_date: new Date(at).toISOString(), end_date: new Date(day + 48 * HOUR).toISOString(), environment: events[0]!.environment };
  expect(await list(moments)).toContain(String(signature));
  expect(await list({ ...moments, start_date: new Date(day - 24 * HOUR).toISOString(), end_date: new Date(at).toISOString() })).toContain(String(signature));
});

test("lists by release and by days read the projection and not the events", async () => {
  const window = { start_date: new Date(NOW - 50 * HOUR).toISOString(), end_date: new Date(NOW).toISOString() };
  const queries: Record<string, string>[] = [{ release: "1" }, { release: "1", environment: "staging" }, { environment: "staging", ...window }];
  for (const query of queries) {
    expect(await list(query)).not.toEqual([]);
    const plans = await plansOf("signature_id");
    expect(plans).toHaveLength(1);
    for (const plan of plans) expect(plan).toContain("by_day");
  }
});

test("a signature's releases and its number of occurrences come from the projection", async () => {
  const { signature } = events[0]!;
  const own = eventsOf({ signature });
  asked = [];
  const { by_release: byRelease } = await getError(stores, organizationId, ids[signature]!, NOW);
  for (const { release, occurrences, first_seen: first, last_seen: last } of byRelease) {
    const moments = own.filter((each) => each.release === release).map(({ at }) => at);
    expect({ occurrences, first, last }).toEqual({ occurrences: moments.length, first: new Date(Math.min(...moments)).toISOString(), last: new Date(Math.max(...moments)).toISOString() });
  }
  for (const plan of await plansOf("GROUP BY release")) expect(plan).toContain("by_day");
  asked = [];
  const { total, counted } = await listOccurrences(stores, organizationId, ids[signature]!, { limit: 1, offset: 0 });
  expect({ total, counted }).toEqual({ total: own.filter((each) => events.indexOf(each) % 2 === 0).length, counted: own.length });
  for (const plan of await plansOf("countIf(detailed)")) expect(plan).toContain("by_day");
});

test("occurrences of an error that has very many come in the same order, page by page, and so does its latest", async () => {
  const signature = busiest();
  await stores.database.update(errorSignatures).set({ occurrences: MANY + 1 }).where(eq(errorSignatures.id, ids[signature]!));
  const detailed = eventsOf({ signature }).filter((each) => events.indexOf(each) % 2 === 0).map(({ at }) => new Date(at).toISOString()).toSorted().toReversed();
  expect(detailed.length).toBeGreaterThan(3);
  for (let offset = 0; offset <= detailed.length; offset++) {
    const { occurrences } = await listOccurrences(stores, organizationId, ids[signature]!, { limit: 2, offset });
    expect(occurrences.map(({ timestamp }) => timestamp)).toEqual(detailed.slice(offset, offset + 2));
  }
  const { latest_occurrence: latest } = await getError(stores, organizationId, ids[signature]!, NOW);
  expect(latest?.timestamp).toBe(detailed[0]);
});
