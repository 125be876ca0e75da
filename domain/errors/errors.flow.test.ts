import { eq } from "drizzle-orm";
import { drizzle } from "drizzle-orm/node-postgres";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { ClickHouseUnavailable, type ClickHouse } from "../../platform/clickhouse/port.ts";
import { newId } from "../../platform/ids.ts";
import { inTransaction, type Database } from "../../platform/postgres/database.ts";
import type { BeaconEventRow } from "../../schemas/messages/beacon-event-row.ts";
import { ChangeErrorStatus, ErrorDetail, ErrorList, ErrorListQuery, OccurrenceList } from "../../schemas/api/errors.ts";
import { ReleaseListQuery } from "../../schemas/api/releases.ts";
import * as tables from "../../schemas/tables/all.ts";
import { freshClickHouse } from "../../testing/clickhouse.ts";
import { freshDatabase } from "../../testing/postgres.ts";
import type { Actor } from "../actor.ts";
import { listReleases } from "../releases/read.ts";
import { mapsOfDebugIds } from "../source-maps/find-maps.ts";
import { mergedInto } from "./aliases.ts";
import { changeErrorStatus, changeErrorStatuses } from "./change-status.ts";
import { getError } from "./get.ts";
import { judgePriorities } from "./judge-priorities.ts";
import { listErrors } from "./list.ts";
import { listOccurrences } from "./list-occurrences.ts";
import { UNBOUNDED } from "./creation-bounds.ts";
import { makeNotedEnvironments } from "./noted-environments.ts";
import { recordCounted, recordOccurrences } from "./record.ts";
import { rowsOfBody } from "./rows-of-body.ts";

const { auditEntries, errorEnvironments, events, organizations, services } = tables;

const NOW = Date.UTC(2026, 0, 31, 12, 30);
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

let stores: Awaited<ReturnType<typeof openStores>>;
let organizationId: string;
let serviceId: string;
let offset = 0n;

async function openStores() {
  const [postgres, clickhouse] = await Promise.all([freshDatabase(), freshClickHouse()]);
  return { database: postgres.database, clickhouse: clickhouse.clickhouse, close: () => Promise.all([postgres.drop(), clickhouse.drop()]) };
}

beforeAll(async () => {
  stores = await openStores();
});
afterAll(() => stores.close());
beforeEach(async () => {
  ({ organizationId, serviceId } = await makeService(stores.database));
});

async function makeService(database: Database) {
  const organizationId = newId();
  const serviceId = newId();
  await database.insert(organizations).values({ id: organizationId, name: "Shop", plan: "team" });
  await database.insert(services).values({ id: serviceId, organizationId, name: "Web" });
  return { organizationId, serviceId };
}

interface Sent {
  release?: string;
  environment?: string;
  session?: string;
  at?: number;
  service?: string;
}

function rowsOf(beaconEvents: object[], { release, environment, session, at = NOW, service = serviceId }: Sent = {}): BeaconEventRow[] {
  const body = Buffer.from(JSON.stringify({ key: "bpk_x", release, environment, session_id: session, events: beaconEvents }));
  return rowsOfBody({ body, receivedAt: at, organizationId, serviceId: service }, { logId: "log", partition: 0, offset: offset++, edgeId: newId(), sequence: 1n, entryIndex: 0, firstIndex: 0 });
}

/** As the processor does: occurrences into ClickHouse, then the signatures in one transaction. */
async function record(rows: BeaconEventRow[]): Promise<string[]> {
  await stores.clickhouse.insert("beacon_events", rows, {});
  const { created } = await inTransaction(stores.database, (tx) => recordOccurrences(tx, rows));
  return created;
}

const errorIn = (name: string) => ({ type: "error", error_type: "TypeError", message: `${name} is broken`, stack: `${name}@https://x.io/app.js:3:5`, tags: { page: "cart" } });
const list = (query: Record<string, string> = {}) => listErrors(stores, organizationId, ErrorListQuery.parse(query), NOW);
const actor = (): Actor => ({ organizationId, type: "api_key", id: null, name: "test", ip: null, userAgent: null });
const outbox = async () => (await stores.database.select().from(events).where(eq(events.organizationId, organizationId))).map(({ type, data }) => [type, data.id]);
const setStatus = (id: string, status: "new" | "resolved" | "ignored") => changeErrorStatus(stores, actor(), id, { status, now: NOW });

describe("judgePriorities", () => {
  it("raises an error that many sessions met within a day by a step, once, and lowers it when they no longer do", async () => {
    const now = Date.now();
    const meet = (event: object, sessions: number) => record(Array.from({ length: sessions }, (_, session) => rowsOf([event], { session: `${session}`, at: now })).flat());
    const ids = await record([...rowsOf([errorIn("wide")], { session: "a", at: now }), ...rowsOf([errorIn("narrow")], { session: "a", at: now }), ...rowsOf([{ ...errorIn("handled"), handled: true }], { session: "a", at: now })]);
    await Promise.all([meet(errorIn("wide"), 100), meet(errorIn("narrow"), 99), meet(errorIn("handled"), 101)]);
    const priorities = async () => {
      const rows = await stores.database.select().from(tables.errorSignatures).where(eq(tables.errorSignatures.organizationId, organizationId));
      return ids.map((id) => rows.find((row) => row.id === id)!).map(({ message, priority }) => [message.split(" ")[0], priority]);
    };
    expect(await judgePriorities(stores, now)).toBe(2);
    expect(await judgePriorities(stores, now)).toBe(0);
    expect(Object.fromEntries(await priorities())).toEqual({ wide: "critical", narrow: "high", handled: "high" });
    expect(await judgePriorities(stores, now + 31 * HOUR)).toBe(2);
    expect(Object.fromEntries(await priorities())).toEqual({ wide: "high", narrow: "high", handled: "medium" });
  });
});

describe("recordOccurrences", () => {
  it("makes a signature of its first event, announces it once and counts the rest", async () => {
    const later = rowsOf([errorIn("pay"), errorIn("pay")], { release: "2", session: "b", environment: "staging" });
    const earlier = rowsOf([errorIn("pay")], { release: "1", session: "a", at: NOW - HOUR });
    const [id] = await record([...later, ...earlier]);
    expect(await record(rowsOf([errorIn("pay")], { session: "a", at: NOW + MINUTE }))).toEqual([]);
    const { errors, total } = ErrorList.parse(await list());
    expect(total).toBe(1);
    expect(errors[0]).toMatchObject({
      id, type: "TypeError", message: "pay is broken", status: "new", occurrences: 4, sessions_affected: 2, release: "1", environment: "production", service_id: serviceId,
      first_seen: new Date(NOW - HOUR).toISOString(), last_seen: new Date(NOW + MINUTE).toISOString(), category: "javascript", priority: "high", culprit: "pay (/app.js)",
    });
    expect(await outbox()).toEqual([["error.new", id]]);
  });

  it("takes a culprit that is cut where a character of two units stands", async () => {
    const file = `https://x.example/${"p".repeat(289)}😀😀😀😀.js`;
    const [id] = await record(rowsOf([{ type: "error", message: "cut", stack: `E: cut\n    at f (${file}:1:1)` }]));
    expect((await list()).errors[0]).toMatchObject({ id, culprit: expect.stringMatching(/^f \(\/p+😀*$/u) });
  });

  it("describes a signature by its first event that has its details, when its first one has none", async () => {
    const [first, second] = [rowsOf([errorIn("spike")], { at: NOW - MINUTE, release: "1" }), rowsOf([errorIn("spike")], { release: "2" })];
    Object.assign(first[0]!, { detailed: false, stack: "", frames: "", grouping_parts: "", causes: "[]" });
    const [id] = await record([...first, ...second]);
    expect(await getError(stores, organizationId, id!, NOW)).toMatchObject({ release: "1", stack_trace: "spike@https://x.io/app.js:3:5", frames: [{ line: 3 }], grouping: { parts: [{ value: "TypeError" }, { value: "spike in /app.js" }] } });
  });

  it("looks more ids up than a statement takes parameters", async () => {
    expect(await mergedInto(stores.database, Array.from({ length: 70_000 }, newId))).toEqual(new Map());
    expect(await mapsOfDebugIds(stores.database, Array.from({ length: 70_000 }, () => [serviceId, newId()] as const))).toHaveLength(70_000);
  });

  it("leaves out vitals and services that are gone, and fails for neither", async () => {
    const gone = rowsOf([errorIn("gone")], { service: newId() });
    const kept = rowsOf([errorIn("kept"), { type: "vital", name: "LCP", value: 1 }]);
    expect(await record([...gone, ...kept])).toEqual([kept[0]!.signature_id]);
    expect((await list()).total).toBe(1);
    expect(await inTransaction(stores.database, (tx) => recordOccurrences(tx, []))).toEqual({ created: [], environments: [] });
  });

  it("announces each signature once when two processors meet it together, and counts all", async () => {
    const names = Array.from({ length: 30 }, (_, at) => `f${at}`);
    const batches = Array.from({ length: 6 }, (_, at) => rowsOf((at % 2 ? names : names.toReversed()).map(errorIn)));
    const created = (await Promise.all(batches.map(record))).flat();
    expect([created.length, new Set(created).size]).toEqual([30, 30]);
    const { errors, total } = await list({ limit: "100" });
    expect([total, new Set(errors.map(({ occurrences }) => occurrences))]).toEqual([30, new Set([6])]);
    expect(await outbox()).toHaveLength(30);
  });

  it("brings a resolved signature back once, by a later event only; an ignored one stays", async () => {
    const [id] = await record(rowsOf([errorIn("pay")]));
    await setStatus(id!, "resolved");
    await record(rowsOf([errorIn("pay")], { at: NOW - MINUTE }));
    expect((await list()).errors[0]).toMatchObject({ status: "resolved", occurrences: 2 });
    await record(rowsOf([errorIn("pay")], { at: NOW + MINUTE }));
    await record(rowsOf([errorIn("pay")], { at: NOW + 2 * MINUTE }));
    expect((await list()).errors[0]).toMatchObject({ status: "regressed", occurrences: 4 });
    expect(await outbox()).toEqual([["error.new", id], ["error.regressed", id]]);
    await setStatus(id!, "ignored");
    await record(rowsOf([errorIn("pay")], { at: NOW + 3 * MINUTE }));
    expect((await list()).errors[0]).toMatchObject({ status: "ignored", occurrences: 5 });
  });
});

describe("a signature that a person decided on", () => {
  const change = (id: string, patch: object, now = NOW) => changeErrorStatus(stores, actor(), id, { ...ChangeErrorStatus.parse(patch), now });
  const happen = (minutes: number, sent: Sent = {}) => record(rowsOf([errorIn("pay")], { at: NOW + minutes * MINUTE, ...sent }));
  const statusAt = async (minutes = 0) => (await listErrors(stores, organizationId, ErrorListQuery.parse({}), NOW + minutes * MINUTE)).errors[0]!.status;

  it("and resolved in a release comes back only in one after it", async () => {
    const [id] = await record(rowsOf([errorIn("pay")], { release: "1.0.0" }));
    expect(await change(id!, { status: "resolved", resolved_in_release: "1.2.0" })).toMatchObject({ status: "resolved", resolved_at: new Date(NOW).toISOString(), resolved_in_release: "1.2.0" });
    for (const release of ["1.0.0", "1.2.0", "1.2.0-rc.1"]) await happen(1, { release });
    await happen(2);
    await happen(-1, { release: "1.10.0" });
    expect(await statusAt()).toBe("resolved");
    await record([...rowsOf([errorIn("pay")], { release: "1.0.0", at: NOW + 3 * MINUTE }), ...rowsOf([errorIn("pay")], { release: "1.10.0", at: NOW + 3 * MINUTE })]);
    expect(await statusAt()).toBe("regressed");
    await happen(4, { release: "1.11.0" });
    const told = (await stores.database.select().from(events).where(eq(events.organizationId, organizationId))).filter(({ type }) => type === "error.regressed");
    expect(told.map(({ data }) => data.release)).toEqual(["1.10.0"]);
    expect(await getError(stores, organizationId, id!, NOW)).toMatchObject({ status: "regressed", resolved_in_release: "1.2.0" });
  });

  it("and resolved in a release that is no version goes by which release was seen first", async () => {
    const [id] = await record([...rowsOf([errorIn("pay")], { release: "aaa", at: NOW - 2 * HOUR }), ...rowsOf([errorIn("pay")], { release: "bbb", at: NOW - HOUR })]);
    await change(id!, { status: "resolved", resolved_in_release: "bbb" });
    await happen(1, { release: "aaa" });
    await happen(2, { release: "bbb" });
    expect(await statusAt()).toBe("resolved");
    await happen(3, { release: "0aa" });
    expect(await statusAt()).toBe("regressed");
  });

  it("to ignore until a moment is new again when it has passed, with or without an event", async () => {
    const [id] = await record(rowsOf([errorIn("pay")]));
    const until = new Date(NOW + 10 * MINUTE).toISOString();
    expect(await change(id!, { status: "ignored", ignore_until: until })).toMatchObject({ status: "ignored", ignore_until: until });
    await happen(9);
    expect([await statusAt(9), await statusAt(10)]).toEqual(["ignored", "new"]);
    const only = async (status: string, minutes: number) => (await listErrors(stores, organizationId, ErrorListQuery.parse({ status }), NOW + minutes * MINUTE)).total;
    expect([await only("ignored", 9), await only("new", 9), await only("ignored", 10), await only("new", 10)]).toEqual([1, 0, 0, 1]);
    await happen(11);
    expect(await statusAt(0)).toBe("new");
    await expect(change(id!, { status: "ignored", ignore_until: until }, NOW + 10 * MINUTE)).rejects.toMatchObject({ code: "INVALID_REQUEST", details: { path: "/ignore_until" } });
  });

  it("to ignore for some events is new again with the last of them, and says nothing", async () => {
    const [id] = await record(rowsOf([errorIn("pay"), errorIn("pay")]));
    expect(await change(id!, { status: "ignored", ignore_until_occurrences: 3 })).toMatchObject({ ignore_until_occurrences: 3 });
    await happen(1);
    await happen(2);
    expect(await getError(stores, organizationId, id!, NOW)).toMatchObject({ status: "ignored", ignore_until_occurrences: 1 });
    await happen(3);
    expect(await getError(stores, organizationId, id!, NOW)).toMatchObject({ status: "new", ignore_until_occurrences: null });
    expect(await outbox()).toEqual([["error.new", id]]);
  });

  it("keeps the moment of its resolution, and drops conditions with another status", async () => {
    const [id] = await record(rowsOf([errorIn("pay")]));
    await change(id!, { status: "resolved", resolved_in_release: "2" });
    expect(await change(id!, { status: "resolved" }, NOW + HOUR)).toMatchObject({ resolved_at: new Date(NOW).toISOString(), resolved_in_release: "2" });
    expect(await change(id!, { status: "resolved", resolved_in_release: null })).toMatchObject({ resolved_in_release: null });
    expect(await change(id!, { status: "new" })).toMatchObject({ status: "new", resolved_at: null });
    expect(await change(id!, { status: "resolved" }, NOW + HOUR)).toMatchObject({ resolved_at: new Date(NOW + HOUR).toISOString() });
  });

  it("may be one of many, each with its audit entry; foreign ids are left out", async () => {
    const ids = await record(rowsOf(["a", "b", "c"].map(errorIn)));
    const other = await makeService(stores.database);
    const many = (organization: string, given: string[]) => changeErrorStatuses(stores.database, { ...actor(), organizationId: organization }, { ids: given, status: "resolved" }, NOW);
    expect(await many(other.organizationId, ids)).toBe(0);
    expect(await many(organizationId, [ids[0]!, ids[0]!, ids[1]!, newId(), "no-uuid"])).toBe(2);
    expect(await many(organizationId, ["no-uuid"])).toBe(0);
    expect((await list({ status: "resolved" })).total).toBe(2);
    expect(await stores.database.$count(auditEntries, eq(auditEntries.organizationId, organizationId))).toBe(2);
  });

  it("is changed with ninety-nine others by as many statements as alone, each with its own conditions and audit entry", async () => {
    let statements = 0;
    const counted = drizzle({ client: stores.database.$client, schema: tables, logger: { logQuery: () => void statements++ } });
    const count = async (ids: string[], status: "new" | "resolved") => {
      statements = 0;
      expect(await changeErrorStatuses(counted, actor(), { ids, status }, NOW)).toBe(ids.length);
      return statements;
    };
    const [alone] = await record(rowsOf([errorIn("alone")]));
    const many = await record(rowsOf(Array.from({ length: 100 }, (_, at) => errorIn(`f${at}`))));
    await change(many[0]!, { status: "resolved", resolved_in_release: "7" }, NOW - HOUR);
    await change(many[1]!, { status: "ignored", ignore_until_occurrences: 5 });
    expect(await count(many, "resolved")).toBe(await count([alone!], "resolved"));
    expect(await getError(stores, organizationId, many[0]!, NOW)).toMatchObject({ resolved_at: new Date(NOW - HOUR).toISOString(), resolved_in_release: "7" });
    expect(await getError(stores, organizationId, many[1]!, NOW)).toMatchObject({ status: "resolved", resolved_at: new Date(NOW).toISOString(), ignore_until_occurrences: null });
    const entries = await stores.database.select().from(auditEntries).where(eq(auditEntries.organizationId, organizationId));
    // Two changes of single ones, one alone, and ninety-nine: the first of many was resolved already.
    expect(entries).toHaveLength(2 + 1 + 99);
    expect(entries.filter(({ resourceId }) => resourceId === many[1]!).map(({ before, after }) => [before?.["status"], after?.["status"]]).sort()).toEqual([["ignored", "resolved"], ["new", "ignored"]]);
  });

  it("comes with the others whichever order many people name them in", async () => {
    const ids = await record(rowsOf(Array.from({ length: 40 }, (_, at) => errorIn(`f${at}`))));
    const all = (status: "new" | "resolved", given: string[]) => changeErrorStatuses(stores.database, actor(), { ids: given, status }, NOW);
    const counts = await Promise.all(Array.from({ length: 10 }, (_, at) => all(at % 2 ? "new" : "resolved", at % 3 ? ids : ids.toReversed())));
    expect(new Set(counts)).toEqual(new Set([40]));
    const { errors } = await list({ limit: "100" });
    expect(new Set(errors.map(({ status }) => status)).size).toBe(1);
  });
});

describe("the releases that events name", () => {
  it("are made once, of the earliest event, vitals too; an empty one is none", async () => {
    const sent = (release: string, at: number, environment?: string) => rowsOf([{ type: "vital", name: "LCP", value: 1 }], { release, at, ...(environment && { environment }) });
    await record([...sent("1", NOW), ...sent("1", NOW - HOUR, "staging"), ...sent("", NOW), ...rowsOf([errorIn("gone")], { release: "9", service: newId() })]);
    await Promise.all(Array.from({ length: 5 }, (_, at) => record([...sent(`p${at % 2}`, NOW), ...sent("1", NOW + HOUR), ...sent(`p${(at + 1) % 2}`, NOW)])));
    const made = await listReleases(stores.database, organizationId, ReleaseListQuery.parse({ service_id: serviceId }));
    expect(made.map(({ version }) => version).sort()).toEqual(["1", "p0", "p1"]);
    expect(made.at(-1)).toMatchObject({ version: "1", environment: "staging", created_at: new Date(NOW - HOUR).toISOString(), commits: [], new_errors: 0, sourcemap_count: 0 });
  });

  it("count the errors that are new in them and those that they brought back", async () => {
    const [id] = await record(rowsOf([errorIn("a"), errorIn("b")], { release: "1" }));
    await setStatus(id!, "resolved");
    await record(rowsOf([errorIn("a"), errorIn("b"), errorIn("c")], { release: "2", at: NOW + MINUTE }));
    const counts = (await listReleases(stores.database, organizationId, ReleaseListQuery.parse({}))).map(({ version, new_errors: fresh, regressed_errors: back }) => [version, fresh, back]);
    expect(counts.sort()).toEqual([["1", 2, 0], ["2", 1, 1]]);
  });
});

describe("the errors of an organization", () => {
  it("does not ask again for environments that it was told are noted, and tells which are once it is committed", async () => {
    const noted = makeNotedEnvironments();
    const count = async (rows: BeaconEventRow[]) => {
      const needs = { readRows: async () => rows, today: { day: "2026-01-31", bounds: UNBOUNDED }, noted };
      const { environments } = await inTransaction(stores.database, (tx) => recordCounted(tx, rows, needs));
      noted.remember(environments);
      return environments.map(({ environment }) => environment);
    };
    const standing = async () => (await stores.database.select({ environment: errorEnvironments.environment }).from(errorEnvironments).where(eq(errorEnvironments.organizationId, organizationId))).map(({ environment }) => environment).sort();
    expect(await count(rowsOf([errorIn("a"), errorIn("a")]))).toEqual(["production"]);
    expect(await count(rowsOf([errorIn("a")]))).toEqual([]);
    expect(await count([...rowsOf([errorIn("a")]), ...rowsOf([errorIn("a")], { environment: "staging" })])).toEqual(["staging"]);
    expect(await standing()).toEqual(["production", "staging"]);
    // A restored PostgreSQL is older than what was noted: all is forgotten then, and noted again.
    await stores.database.delete(errorEnvironments).where(eq(errorEnvironments.organizationId, organizationId));
    noted.forget();
    expect(await count(rowsOf([errorIn("a")], { environment: "staging" }))).toEqual(["staging"]);
    expect(await standing()).toEqual(["staging"]);
  });

  it("are filtered by what any of their events was, with total counts", async () => {
    await record([
      ...rowsOf([errorIn("a"), errorIn("b")], { release: "1", at: NOW - 3 * HOUR }), ...rowsOf([errorIn("b"), errorIn("c")], { release: "2", environment: "staging", at: NOW - HOUR }), ...rowsOf([errorIn("d")]),
    ]);
    const names = async (query: Record<string, string>) => (await list(query)).errors.map(({ message }) => message[0]).sort().join("");
    expect(await names({})).toBe("abcd");
    expect(await names({ release: "1" })).toBe("ab");
    expect(await names({ environment: "staging" })).toBe("bc");
    expect(await names({ environment: "production" })).toBe("abd");
    expect(await names({ environment: "nowhere" })).toBe("");
    expect(await names({ start_date: new Date(NOW - 2 * HOUR).toISOString() })).toBe("bcd");
    expect(await names({ end_date: new Date(NOW - 2 * HOUR).toISOString() })).toBe("ab");
    expect(await names({ start_date: new Date(NOW - 4 * HOUR).toISOString(), end_date: new Date(NOW - 2 * HOUR).toISOString(), release: "2" })).toBe("");
    expect(await names({ service_id: serviceId, status: "new" })).toBe("abcd");
    expect(await names({ status: "resolved" })).toBe("");
    expect(await names({ service_id: "no-uuid" })).toBe("");
    expect((await list({ release: "1" })).errors.find(({ message }) => message.startsWith("b"))!.occurrences).toBe(2);
    expect((await list({ limit: "1", environment: "production" })).total).toBe(3);
    const page = await list({ limit: "1", offset: "1" });
    expect([page.total, page.errors.length]).toEqual([4, 1]);
  });

  it("show one with frames, grouping, latest event, releases and trend", async () => {
    const [id] = await record([...rowsOf([errorIn("pay")], { release: "1", at: NOW - 23 * HOUR }), ...rowsOf([errorIn("pay"), errorIn("pay")], { release: "2", session: "s" })]);
    const detail = ErrorDetail.parse(await getError(stores, organizationId, id!, NOW));
    expect(detail.frames).toMatchObject([{ function: "pay", file: "https://x.io/app.js", line: 3, column: 5, in_app: true }]);
    expect(detail.grouping).toEqual({ version: "v2", parts: [{ kind: "type", value: "TypeError" }, { kind: "frame", value: "pay in /app.js" }] });
    expect(detail.by_release.map(({ release, occurrences }) => [release, occurrences])).toEqual([["2", 2], ["1", 1]]);
    expect(detail.trend).toEqual([1, ...Array<number>(22).fill(0), 2]);
    expect(detail.latest_occurrence).toMatchObject({ release: "2", session_id: "s", user: null, tags: { page: "cart" }, handled: false, timestamp: new Date(NOW).toISOString(), truncated: false });
  });

  it("list the events of one, latest first", async () => {
    const [id] = await record([...rowsOf([errorIn("pay")], { at: NOW - HOUR }), ...rowsOf([errorIn("pay")])]);
    const { occurrences, total } = OccurrenceList.parse(await listOccurrences(stores, organizationId, id!, { limit: 1, offset: 1 }));
    expect([total, occurrences.map(({ received_at }) => received_at)]).toEqual([2, [new Date(NOW - HOUR).toISOString()]]);
  });

  it("are as good as absent to another organization", async () => {
    const [id] = await record(rowsOf([errorIn("pay")]));
    const other = await makeService(stores.database);
    expect(await listErrors(stores, other.organizationId, ErrorListQuery.parse({}), NOW)).toEqual({ errors: [], total: 0 });
    expect(await listErrors(stores, other.organizationId, ErrorListQuery.parse({ service_id: serviceId, environment: "production" }), NOW)).toEqual({ errors: [], total: 0 });
    for (const wrong of [id!, newId(), "no-uuid"]) {
      await expect(getError(stores, other.organizationId, wrong, NOW)).rejects.toMatchObject({ code: "NOT_FOUND", message: "No such error." });
      await expect(listOccurrences(stores, other.organizationId, wrong, { limit: 1, offset: 0 })).rejects.toMatchObject({ code: "NOT_FOUND" });
      await expect(changeErrorStatus(stores, { ...actor(), organizationId: other.organizationId }, wrong, { status: "resolved", now: NOW })).rejects.toMatchObject({ code: "NOT_FOUND" });
    }
  });

  it("change their status with an audit entry, once", async () => {
    const [id] = await record(rowsOf([errorIn("pay")]));
    expect((await setStatus(id!, "resolved")).status).toBe("resolved");
    await setStatus(id!, "resolved");
    const entries = await stores.database.select().from(auditEntries).where(eq(auditEntries.organizationId, organizationId));
    expect(entries).toMatchObject([{ action: "error.status_changed", resourceId: id, changedFields: ["status"], before: { status: "new" }, after: { status: "resolved" } }]);
  });

  it("say so when ClickHouse is away", async () => {
    await record(rowsOf([errorIn("pay")]));
    const away: ClickHouse = { ...stores.clickhouse, query: () => Promise.reject(new ClickHouseUnavailable("test")) };
    await expect(listErrors({ ...stores, clickhouse: away }, organizationId, ErrorListQuery.parse({}), NOW)).rejects.toMatchObject({ code: "UNAVAILABLE", details: { retryAfter: 5 } });
  });

  it("come back from ClickHouse as the rows that went in, so that a replay counts the same", async () => {
    const rows = rowsOf([errorIn("pay"), { type: "vital", name: "LCP", value: 1.5 }], { session: "s" });
    await stores.clickhouse.insert("beacon_events", rows, {});
    const read = await stores.clickhouse.query<BeaconEventRow>("SELECT * FROM beacon_events WHERE service_id = {service:UUID} ORDER BY index", { service: serviceId });
    expect(read).toEqual(rows);
  });
});
