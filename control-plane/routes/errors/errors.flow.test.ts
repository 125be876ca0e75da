import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { recordOccurrences } from "../../../domain/errors/record.ts";
import { rowsOfBody } from "../../../domain/errors/rows-of-body.ts";
import type { CreatedOrganization } from "../../../domain/organizations/create.ts";
import { newId } from "../../../platform/ids.ts";
import { inTransaction } from "../../../platform/postgres/database.ts";
import { freshClickHouse } from "../../../testing/clickhouse.ts";
import { startTestControlPlane, type TestControlPlane } from "../../../testing/control-plane.ts";

const NOW = Date.UTC(2026, 0, 31, 12);
const HOUR = 3_600_000;
const UNKNOWN_ID = "5c1f8f6e-1111-4222-8333-444455556666";

let plane: TestControlPlane;
let stored: Awaited<ReturnType<typeof freshClickHouse>>;
let other: CreatedOrganization;
let ids: string[];
let offset = 0n;

beforeAll(async () => {
  stored = await freshClickHouse();
  plane = await startTestControlPlane({ clickhouse: stored.clickhouse, clock: { now: () => NOW, monotonic: () => performance.now() } });
  other = await plane.createOrganization("team");
  ids = [
    ...(await happen([{ type: "error", error_type: "TypeError", message: '=cmd|"x", and more' }], { session_id: "a" }, -2 * HOUR)),
    ...(await happen([{ type: "message", message: "two\nlines" }, { type: "message", message: "two\nlines" }], { session_id: "b", environment: "staging" }, -HOUR)),
  ];
  await happen([1, 2, 3, 4, 5].map((value) => ({ type: "vital", name: "LCP", value: value * 100 })), {}, -HOUR);
  await happen([{ type: "vital", name: "LCP", value: 9_000 }], {}, -48 * HOUR);
  await happen([{ type: "vital", name: "CLS", value: 0.1 }], {}, -HOUR);
});
afterAll(async () => {
  await plane.stop();
  await stored.drop();
});

/** As a beacon of the organization's first service would; ids of the new signatures. */
async function happen(sent: object[], more: object, delta: number): Promise<string[]> {
  const { organizationId, serviceId } = plane.organization;
  const body = Buffer.from(JSON.stringify({ key: "bpk_x", ...more, events: sent }));
  const rows = rowsOfBody({ body, receivedAt: NOW + delta, organizationId, serviceId }, { logId: "log", partition: 0, offset: offset++, edgeId: newId(), sequence: 1n, entryIndex: 0, firstIndex: 0 });
  await stored.clickhouse.insert("beacon_events", rows, {});
  return (await inTransaction(plane.database, (tx) => recordOccurrences(tx, rows))).created;
}

const asOther = () => ({ "x-api-key": other.apiKey });
const csv = async (query: string, headers: Record<string, string> = {}) => plane.app.inject({ method: "GET", url: `/api/v1/errors/export${query}`, headers: { "x-api-key": plane.organization.apiKey, ...headers } });

describe("the export of errors", () => {
  it("is a CSV file, with nothing in it that a spreadsheet would run", async () => {
    const { statusCode, headers, body } = await csv("");
    expect(statusCode).toBe(200);
    expect(headers).toMatchObject({ "content-type": "text/csv; charset=utf-8", "content-disposition": 'attachment; filename="errors-2026-01-31.csv"', "x-ratelimit-limit": expect.anything(), "x-request-id": expect.anything() });
    expect(body).toBe(
      "id,message,type,occurrences,sessions_affected,first_seen,last_seen\r\n" +
        `${ids[1]},"two\nlines",Message,2,1,2026-01-31T11:00:00.000Z,2026-01-31T11:00:00.000Z\r\n` +
        `${ids[0]},"'=cmd|""x"", and more",TypeError,1,1,2026-01-31T10:00:00.000Z,2026-01-31T10:00:00.000Z\r\n`,
    );
  });

  it("is JSON when asked for, with the bounds and totals of what it holds", async () => {
    const all = await plane.call("GET", "/errors/export?format=json");
    expect(all.body.export).toEqual({ format: "json", from: "2026-01-31T10:00:00.000Z", to: "2026-01-31T11:00:00.000Z", total_errors: 2, total_occurrences: 3 });
    expect((all.body.errors as object[])[1]).toEqual({
      id: ids[0], message: '=cmd|"x", and more', type: "TypeError", occurrences: 1, sessions_affected: 1, first_seen: "2026-01-31T10:00:00.000Z", last_seen: "2026-01-31T10:00:00.000Z",
    });
    const bounded = await plane.call("GET", "/errors/export?format=json&start_date=2026-01-31T10:30:00Z&end_date=2026-02-01");
    expect(bounded.body.export).toEqual({ format: "json", from: "2026-01-31T10:30:00.000Z", to: "2026-02-01T00:00:00.000Z", total_errors: 1, total_occurrences: 2 });
  });

  it.each([
    ["environment=staging", 1],
    ["environment=nowhere", 0],
    ["category=message", 1],
    ["category=javascript", 1],
    ["priority=critical", 0],
    ["limit=1", 1],
    ["limit=0", 1],
    ["limit=99999", 2],
  ])("by %s holds %d", async (query, expected) => {
    expect((await plane.call("GET", `/errors/export?format=json&${query}`)).body.errors).toHaveLength(expected);
  });

  it("refuses what it does not know, needs its scope, and is empty for another organization", async () => {
    expect((await plane.call("GET", "/errors/export?format=xml")).body).toMatchObject({ code: "INVALID_REQUEST", path: "/format" });
    expect((await plane.call("GET", "/errors/export?limit=many")).body).toMatchObject({ code: "INVALID_REQUEST", path: "/limit" });
    expect((await plane.call("GET", "/errors/export?format=json", undefined, asOther())).body).toEqual({ export: { format: "json", from: null, to: null, total_errors: 0, total_occurrences: 0 }, errors: [] });
    const { body } = await plane.call("POST", "/api-keys", { name: "none", scopes: ["services:read"] });
    expect((await csv("", { "x-api-key": body.key as string })).json()).toMatchObject({ code: "INSUFFICIENT_SCOPE", error: "Insufficient scope: monitors:read required" });
  });
});

describe("the status of errors", () => {
  it("is changed for one, with its conditions, and for many", async () => {
    const one = await plane.call("PATCH", `/errors/${ids[0]}`, { status: "resolved", resolved_in_release: "1.0.0" });
    expect(one.body).toMatchObject({ status: "resolved", resolved_at: new Date(NOW).toISOString(), resolved_in_release: "1.0.0", ignore_until: null });
    expect((await plane.call("PATCH", "/errors", { ids: [...ids, UNKNOWN_ID], status: "ignored" })).body).toEqual({ updated: 2 });
    expect((await plane.call("GET", "/errors?status=ignored")).body.total).toBe(2);
    expect((await plane.call("PATCH", "/errors", { ids, status: "resolved" }, asOther())).body).toEqual({ updated: 0 });
    expect((await plane.call("GET", "/errors?status=ignored")).body.total).toBe(2);
  });

  it.each<[string, object, string]>([
    ["a status of the service's own", { status: "regressed" }, "/status"],
    ["a release for another status", { status: "ignored", resolved_in_release: "1" }, "/resolved_in_release"],
    ["a moment for another status", { status: "resolved", ignore_until: "2027-01-01T00:00:00Z" }, "/ignore_until"],
    ["a moment that has passed", { status: "ignored", ignore_until: "2026-01-01T00:00:00Z" }, "/ignore_until"],
    ["no events at all", { status: "ignored", ignore_until_occurrences: 0 }, "/ignore_until_occurrences"],
    ["an unknown field", { status: "ignored", ignored_until: "2027-01-01T00:00:00Z" }, "/ignored_until"],
  ])("refuses %s", async (_, body, path) => {
    expect(await plane.call("PATCH", `/errors/${ids[0]}`, body)).toMatchObject({ status: 400, body: { code: "INVALID_REQUEST", path } });
  });

  it("refuses more than 100 at once, and none", async () => {
    for (const many of [[], Array<string>(101).fill(UNKNOWN_ID)]) expect(await plane.call("PATCH", "/errors", { ids: many, status: "new" })).toMatchObject({ status: 400, body: { path: "/ids" } });
  });
});

describe("vitals", () => {
  it("are the 75th percentile of each name in the window", async () => {
    const { serviceId } = plane.organization;
    expect((await plane.call("GET", `/vitals?service_id=${serviceId}`)).body).toEqual({ vitals: [{ name: "CLS", p75: 0.1, count: 1 }, { name: "LCP", p75: 400, count: 5 }] });
    expect((await plane.call("GET", "/vitals?from=2026-01-29T00:00:00Z&to=2026-01-30T00:00:00%2B01:00")).body).toEqual({ vitals: [{ name: "LCP", p75: 9_000, count: 1 }] });
    for (const id of [UNKNOWN_ID, "nonsense"]) expect((await plane.call("GET", `/vitals?service_id=${id}`)).body).toEqual({ vitals: [] });
    expect((await plane.call("GET", `/vitals?service_id=${serviceId}`, undefined, asOther())).body).toEqual({ vitals: [] });
    expect((await plane.call("GET", "/vitals?from=2026-01-31T00:00:00Z&to=2026-01-30T00:00:00Z")).body).toMatchObject({ code: "INVALID_REQUEST", path: "/from" });
  });
});
