import { eq } from "drizzle-orm";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { newId } from "../../platform/ids.ts";
import { inTransaction } from "../../platform/postgres/database.ts";
import { ErrorListQuery } from "../../schemas/api/errors.ts";
import type { BeaconEventRow } from "../../schemas/messages/beacon-event-row.ts";
import * as tables from "../../schemas/tables/all.ts";
import { freshClickHouse } from "../../testing/clickhouse.ts";
import { freshDatabase } from "../../testing/postgres.ts";
import { changeErrorStatus } from "./change-status.ts";
import { earlierFingerprint } from "./earlier-fingerprint.ts";
import { getError } from "./get.ts";
import { listErrors } from "./list.ts";
import { listOccurrences } from "./list-occurrences.ts";
import { parseStack } from "./parse-stack.ts";
import { recordOccurrences } from "./record.ts";
import { rowsOfBody } from "./rows-of-body.ts";
import { signatureId } from "./signature-id.ts";

const NOW = Date.UTC(2026, 0, 31, 12, 30);
const DAY = 86_400_000;
const APP = "https://x.io/app.js";

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
  organizationId = newId();
  serviceId = newId();
  await stores.database.insert(tables.organizations).values({ id: organizationId, name: "Shop", plan: "team" });
  await stores.database.insert(tables.services).values({ id: serviceId, organizationId, name: "Web" });
});

interface Thrown {
  message: string;
  stack: string;
}

/** Two handlers without names in one script, which v1 took for one error. */
const ADD: Thrown = { message: "adding failed", stack: `Error: adding failed\n    at ${APP}:1:10` };
const PAY: Thrown = { message: "paying failed", stack: `Error: paying failed\n    at ${APP}:1:90` };

function rowsOf(thrown: Thrown[], at: number): BeaconEventRow[] {
  const body = Buffer.from(JSON.stringify({ key: "bpk_x", release: "1", events: thrown.map((each) => ({ type: "error", error_type: "Error", ...each })) }));
  return rowsOfBody({ body, receivedAt: at, organizationId, serviceId }, { logId: "log", partition: 0, offset: offset++, edgeId: newId(), sequence: 1n, entryIndex: 0, firstIndex: 0 });
}

/** As the version before made them. */
function earlierRowsOf(thrown: Thrown[], at: number): BeaconEventRow[] {
  return rowsOf(thrown, at).map(asEarlier);
}

function asEarlier(row: BeaconEventRow): BeaconEventRow {
  const fingerprint = earlierFingerprint({ type: row.error_type, message: row.message, frames: parseStack(row.stack, row.message).frames });
  return { ...row, fingerprint, grouping_version: "v1", grouping_parts: "[]", signature_id: signatureId(serviceId, "v1", fingerprint) };
}

async function record(rows: BeaconEventRow[]): Promise<string[]> {
  await stores.clickhouse.insert("beacon_events", rows, {});
  const { created } = await inTransaction(stores.database, (tx) => recordOccurrences(tx, rows));
  return created;
}

const list = () => listErrors(stores, organizationId, ErrorListQuery.parse({}), NOW);
const told = async () => (await stores.database.select().from(tables.events).where(eq(tables.events.organizationId, organizationId))).map(({ type, data }) => [type, data.id]);

describe("a signature of v1", () => {
  it("goes on with the events that v2 groups apart, with one id, one history and no news", async () => {
    const [id] = await record(earlierRowsOf([ADD, PAY], NOW - 2 * DAY));
    const later = rowsOf([ADD, PAY, PAY], NOW - DAY);
    expect(new Set(later.map((row) => row.signature_id)).size).toBe(2);
    expect(await record(later)).toEqual([]);
    expect(await record(rowsOf([PAY], NOW))).toEqual([]);
    expect(await list()).toMatchObject({ total: 1, errors: [{ id, occurrences: 6, first_seen: new Date(NOW - 2 * DAY).toISOString(), last_seen: new Date(NOW).toISOString() }] });
    expect(await told()).toEqual([["error.new", id]]);
    expect(await listOccurrences(stores, organizationId, id!, { limit: 10, offset: 0 })).toMatchObject({ total: 6, counted: 6 });
    const detail = await getError(stores, organizationId, later[1]!.signature_id, NOW);
    expect(detail).toMatchObject({ id, latest_occurrence: { message: "paying failed" }, by_release: [{ release: "1", occurrences: 6 }] });
  });

  it("that was resolved comes back once, whichever of them happens", async () => {
    const [id] = await record(earlierRowsOf([ADD], NOW - 2 * DAY));
    await changeErrorStatus(stores, { organizationId, type: "api_key", id: null, name: "test", ip: null, userAgent: null }, id!, { status: "resolved", now: NOW - DAY });
    await record(rowsOf([ADD, PAY], NOW));
    await record(rowsOf([ADD, PAY], NOW));
    expect(await list()).toMatchObject({ total: 1, errors: [{ id, status: "regressed", occurrences: 5 }] });
    expect((await told()).filter(([type]) => type === "error.regressed")).toEqual([["error.regressed", id]]);
  });

  it("takes what two processors bring at once", async () => {
    const [id] = await record(earlierRowsOf([ADD], NOW - DAY));
    expect(await Promise.all([record(rowsOf([ADD, PAY], NOW)), record(rowsOf([PAY, ADD], NOW))])).toEqual([[], []]);
    expect(await list()).toMatchObject({ total: 1, errors: [{ id, occurrences: 5 }] });
  });

  it("that was stored and not counted when the version changed is one with what comes after it", async () => {
    const [id, ...others] = await record([...earlierRowsOf([ADD], NOW - DAY), ...rowsOf([ADD, PAY], NOW)]);
    expect(others).toEqual([]);
    expect(await list()).toMatchObject({ total: 1, errors: [{ id, occurrences: 3 }] });
    expect(await told()).toEqual([["error.new", id]]);
  });

  it("that is counted after what came later is part of it", async () => {
    const [id] = await record(rowsOf([ADD], NOW));
    expect(await record(earlierRowsOf([ADD], NOW - DAY))).toEqual([]);
    expect(await list()).toMatchObject({ total: 1, errors: [{ id, occurrences: 2, first_seen: new Date(NOW - DAY).toISOString() }] });
    expect(await told()).toEqual([["error.new", id]]);
  });

  it("is left behind when it was silent for 90 days", async () => {
    const [id] = await record(earlierRowsOf([ADD], NOW - 91 * DAY));
    const [own] = await record(rowsOf([ADD], NOW));
    expect(own).not.toBe(id);
    expect(await told()).toEqual([["error.new", id], ["error.new", own]]);
  });

  it("takes no more than a hundred", async () => {
    await record(earlierRowsOf([ADD], NOW - DAY));
    const letters = "abcdefghijklmnopqrstuvwxyz";
    const many = Array.from({ length: 150 }, (_, at): Thrown => ({ ...ADD, message: `failed ${letters[Math.floor(at / 26)]}${letters[at % 26]}ing` }));
    const made = [...(await record(rowsOf(many.slice(0, 90), NOW))), ...(await record(rowsOf(many.slice(90), NOW)))];
    expect(made).toHaveLength(50);
  });
});
