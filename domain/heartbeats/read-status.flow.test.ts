import { afterAll, beforeAll, expect, it } from "vitest";
import type { ClickHouse } from "../../platform/clickhouse/port.ts";
import { newId } from "../../platform/ids.ts";
import type { Database } from "../../platform/postgres/database.ts";
import { heartbeatMonitors, organizations } from "../../schemas/tables/all.ts";
import { freshClickHouse } from "../../testing/clickhouse.ts";
import { freshDatabase } from "../../testing/postgres.ts";
import { pingRow } from "./ping-rows.ts";
import { readHeartbeatStatus } from "./read-status.ts";

const T = Date.parse("2026-05-04T12:00:00Z");
const organizationId = newId();
const monitorId = newId();

let database: Database;
let clickhouse: ClickHouse;
let dropAll: () => Promise<unknown>;

beforeAll(async () => {
  const [postgres, engine] = await Promise.all([freshDatabase(), freshClickHouse()]);
  ({ database } = postgres);
  ({ clickhouse } = engine);
  dropAll = () => Promise.all([postgres.drop(), engine.drop()]);
  await database.insert(organizations).values({ id: organizationId, name: "Acme", plan: "free" });
  await database
    .insert(heartbeatMonitors)
    .values({ id: monitorId, organizationId, name: "Job", slug: "job", scheduleType: "interval", intervalSeconds: 60, graceSeconds: 60, status: "up", lastPingAt: new Date(T), lastDurationMs: 5 });
});
afterAll(() => dropAll());

const read = (by: string, id = monitorId) => readHeartbeatStatus({ database, clickhouse }, by, id);

it("shows the state and the pings, newest first, a resent one once", async () => {
  expect(await read(organizationId)).toEqual({ monitor_id: monitorId, status: "up", last_ping_at: new Date(T).toISOString(), next_expected_at: null, last_duration_ms: 5, running_since: null, run_exceeded: false, warning: null, recent: [] });
  const bodies = ['{"status":"start","run_id":"r1"}', '{"status":"log","run_id":"r1","message":"a"}', '{"status":"log","run_id":"r1","message":"b"}', '{"run_id":"r1","duration_ms":7}', '{"run_id":"r1","duration_ms":7}', ""];
  const rows = bodies.map((body, n) => {
    const entry = { requestNumber: 0, receivedAt: T + n, detached: true, organizationId, subjectId: monitorId, body: Buffer.from(body) };
    return pingRow({ logId: "log-1", partition: 0, offset: 1n, index: n }, entry)!;
  });
  await clickhouse.insert("heartbeat_pings", rows, {});
  expect((await read(organizationId))!.recent).toEqual(
    [
      [5, "ok", null, null, null],
      [4, "ok", "r1", 7, null],
      [2, "log", "r1", null, "b"],
      [1, "log", "r1", null, "a"],
      [0, "start", "r1", null, null],
    ].map(([ms, status, run_id, duration_ms, message]) => ({ received_at: new Date(T + Number(ms)).toISOString(), status, run_id, duration_ms, message })),
  );
});

it("shows the last hundred", async () => {
  const rows = Array.from({ length: 150 }, (_, n) => {
    const entry = { requestNumber: 0, receivedAt: T + 1_000 + n, detached: true, organizationId, subjectId: monitorId, body: Buffer.from("") };
    return pingRow({ logId: "log-1", partition: 0, offset: 2n, index: n }, entry)!;
  });
  await clickhouse.insert("heartbeat_pings", rows, {});
  const { recent } = (await read(organizationId))!;
  expect(recent).toHaveLength(100);
  expect(recent[0]!.received_at).toBe(new Date(T + 1_149).toISOString());
});

it("is null for another organization's monitor", async () => {
  expect(await read(newId())).toBeNull();
  expect(await read(organizationId, newId())).toBeNull();
});
