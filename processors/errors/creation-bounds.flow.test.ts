import { randomUUID } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { eq } from "drizzle-orm";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { getError } from "../../domain/errors/get.ts";
import { listErrors } from "../../domain/errors/list.ts";
import { readUnmapped } from "../../domain/errors/read-unmapped.ts";
import { tooManyId } from "../../domain/errors/too-many.ts";
import { createOrganization } from "../../domain/organizations/create.ts";
import { systemClock } from "../../platform/clock.ts";
import { openEmbeddedLog } from "../../platform/event-log/embedded.ts";
import { encodeFrame } from "../../platform/event-log/frame.ts";
import type { Consumer, EventLog } from "../../platform/event-log/port.ts";
import { makeLog } from "../../platform/log.ts";
import { makeMetrics } from "../../platform/metrics.ts";
import { moduleFile } from "../../platform/root.ts";
import { startWorkerPool } from "../../platform/worker-pool.ts";
import { cursors, dailyCreations, errorEnvironments, errorSignatures, events as outbox, releases, services } from "../../schemas/tables/all.ts";
import { freshClickHouse } from "../../testing/clickhouse.ts";
import { freshDatabase } from "../../testing/postgres.ts";
import type { BatchStep } from "../consume/batch-consumer.ts";
import { startErrorConsumer, type ErrorRowsPool } from "./consume.ts";

const DAY_MS = 86_400_000;
const TOO_MANY = "Too many different errors";
const log = makeLog(process.env.PHAROS_TEST_LOG ?? "silent");

let folder: string;
let postgres: Awaited<ReturnType<typeof freshDatabase>>;
let clickhouse: Awaited<ReturnType<typeof freshClickHouse>>;
let tenant: { organizationId: string; serviceId: string };
let eventLog: EventLog;
let pool: ErrorRowsPool;
let consumers: Consumer[];
let sequence: bigint;
let ahead: number;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "pharos-bounds-"));
  postgres = await freshDatabase();
  clickhouse = await freshClickHouse();
  tenant = await createOrganization(postgres.database, { name: "Bounds", plan: "team" });
  eventLog = await openEmbeddedLog({ folder, partitions: 1, retentionBytes: 1e9, retentionMs: 1e9, clock: systemClock, log });
  pool = startWorkerPool({ file: moduleFile("./worker.ts", import.meta.url), name: "rowsOfRecords", threads: 1 });
  consumers = [];
  sequence = 0n;
  // Noon, so that no test runs over midnight.
  ahead = Math.floor(Date.now() / DAY_MS) * DAY_MS + DAY_MS / 2 - Date.now();
});
afterEach(async () => {
  for (const consumer of consumers) await consumer.stop();
  await pool.close();
  await eventLog.close();
  await postgres.drop();
  await clickhouse.drop();
  await rm(folder, { recursive: true, force: true });
});

const clock = { ...systemClock, now: () => Date.now() + ahead };
const stores = () => ({ database: postgres.database, clickhouse: clickhouse.clickhouse });

async function start(bounds: { signatures?: number; releases?: number; environments?: number }, onStep?: (step: BatchStep) => void): Promise<void> {
  const needs = { ...stores(), eventLog, clock, log, metrics: makeMetrics(), pool };
  consumers.push(await startErrorConsumer({ ...needs, bounds: { signatures: 0, releases: 0, environments: 0, ...bounds } }, onStep));
}

interface Sent {
  service?: string;
  release?: string;
  environment?: string;
}

/** One frame with one request that has an error of each of these kinds. */
async function send(kinds: string[], { service = tenant.serviceId, release, environment }: Sent = {}): Promise<void> {
  const stack = "TypeError: broken\n    at run (https://shop.example/app.js:3:5)";
  const sent = kinds.map((kind) => ({ type: "error", error_type: "TypeError", message: `${kind} is broken`, stack, fingerprint: [kind] }));
  const body = Buffer.from(JSON.stringify({ key: "bpk_", release, environment, session_id: "s", events: sent }));
  const entry = { requestNumber: 0, receivedAt: clock.now(), detached: true, organizationId: tenant.organizationId, subjectId: service, body };
  await eventLog.append("beacons", 0, encodeFrame({ edgeId, sequence: (sequence += 1n) }, [entry]));
}

const edgeId = randomUUID();
const kinds = (count: number, prefix = "kind") => Array.from({ length: count }, (_, number) => `${prefix}-${number}`);

async function processed(): Promise<void> {
  const [end] = await eventLog.ends("beacons");
  await vi.waitFor(
    async () => {
      const [row] = await postgres.database.select().from(cursors).where(eq(cursors.topic, "beacons"));
      expect(row?.nextOffset).toBe(end);
    },
    { timeout: 60_000, interval: 20 },
  );
}

/** How many signatures a service has, and how often what is too many happened; both stores agree. */
async function counted(service = tenant.serviceId): Promise<{ signatures: number; tooMany: number }> {
  const signatures = await postgres.database.select().from(errorSignatures).where(eq(errorSignatures.serviceId, service));
  const rows = await clickhouse.clickhouse.query<{ id: string; rows: string }>(
    "SELECT toString(signature_id) AS id, count() AS rows FROM beacon_events WHERE service_id = {service:UUID} GROUP BY id",
    { service },
  );
  const inPostgres = Object.fromEntries(signatures.map(({ id, occurrences }) => [id, occurrences]));
  expect(Object.fromEntries(rows.map((row) => [row.id, Number(row.rows)]))).toEqual(inPostgres);
  const { [tooManyId(service)]: tooMany = 0, ...others } = inPostgres;
  return { signatures: Object.keys(others).length, tooMany };
}

async function made(): Promise<Record<string, number>> {
  const rows = await postgres.database.select().from(dailyCreations);
  return Object.fromEntries(rows.map(({ kind, count }) => [kind, count]));
}

test("past the bound of signatures events count into one that says so, until the next day", async () => {
  await start({ signatures: 10 });
  await send(kinds(30));
  await processed();
  expect(await counted()).toEqual({ signatures: 10, tooMany: 20 });
  expect(await made()).toEqual({ signature: 10, environment: 1 });

  // Known ones go on by themselves, and what is too many is announced once.
  await send([...kinds(10), ...kinds(5, "more")]);
  await processed();
  expect(await counted()).toEqual({ signatures: 10, tooMany: 25 });
  const announced = await postgres.database.select().from(outbox).where(eq(outbox.type, "error.new"));
  expect(announced.filter(({ data }) => data.message === TOO_MANY)).toHaveLength(1);
  expect(announced).toHaveLength(11);

  ahead += DAY_MS;
  await send(kinds(12, "next"));
  await processed();
  expect(await counted()).toEqual({ signatures: 20, tooMany: 27 });
});

test("the API shows what is too many with the events as they were sent, and no source map moves it", async () => {
  await start({ signatures: 1 });
  await send(kinds(3), { release: "1.0" });
  await processed();
  const { errors } = await listErrors(stores(), tenant.organizationId, { limit: 10, offset: 0 }, Date.now());
  expect(errors.map(({ message, occurrences }) => [message, occurrences]).toSorted()).toEqual([[TOO_MANY, 2], ["kind-0 is broken", 1]]);
  const id = tooManyId(tenant.serviceId);
  expect(await getError(stores(), tenant.organizationId, id, Date.now())).toMatchObject({
    id, message: TOO_MANY, culprit: null, stack_trace: "", frames: [], sessions_affected: 1, priority: "medium",
    grouping: { version: "excess-v1", parts: [{ kind: "message", value: TOO_MANY }] },
    latest_occurrence: { message: expect.stringMatching(/^kind-[12] is broken$/) as string, release: "1.0" },
    by_release: [{ release: "1.0", occurrences: 2 }],
  });
  const late = await readUnmapped(clickhouse.clickhouse, { organizationId: tenant.organizationId, serviceId: tenant.serviceId, release: "1.0", after: "00000000-0000-0000-0000-000000000000", limit: 10 });
  expect(late.map(({ message }) => message)).toEqual(["kind-0 is broken"]);
});

test("services do not share their bounds", async () => {
  const other = randomUUID();
  await postgres.database.insert(services).values({ id: other, organizationId: tenant.organizationId, name: "Other" });
  await start({ signatures: 4 });
  await send(kinds(9));
  await send(kinds(3), { service: other });
  await processed();
  expect(await counted()).toEqual({ signatures: 4, tooMany: 5 });
  expect(await counted(other)).toEqual({ signatures: 3, tooMany: 0 });
});

test("past the bound of releases none is made and events keep theirs; past that of environments errors are in `other`", async () => {
  await start({ releases: 2, environments: 3 });
  for (const name of ["a", "b", "c", "d"]) {
    await send(["one"], { release: name, environment: `long name of environment ${name}` });
    await processed();
  }
  await send(["one"], { release: "a", environment: "long name of environment b" });
  await processed();
  expect((await postgres.database.select().from(releases)).map(({ version }) => version).toSorted()).toEqual(["a", "b"]);
  const noted = await postgres.database.select().from(errorEnvironments);
  const environments = ["long name of environment a", "long name of environment b", "long name of environment c", "other"];
  expect(noted.map(({ environment }) => environment).toSorted()).toEqual(environments);
  const rows = await clickhouse.clickhouse.query<{ release: string; environment: string; message: string }>(
    "SELECT release, environment, message FROM beacon_events ORDER BY offset",
  );
  expect(rows.map(({ release, environment }) => [release, environment.at(-1)])).toEqual([["a", "a"], ["b", "b"], ["c", "c"], ["d", "r"], ["a", "b"]]);
  expect(rows.every(({ message }) => message === "one is broken")).toBe(true);
  expect(await made()).toEqual({ signature: 1, release: 2, environment: 3 });

  ahead += DAY_MS;
  await send(["one"], { release: "d", environment: "d" });
  await processed();
  expect(await postgres.database.$count(releases)).toBe(3);
  expect(await postgres.database.$count(errorEnvironments)).toBe(5);
});

test("a batch that is done again after its insert gives the same", async () => {
  let left = 2;
  await send(kinds(30), { environment: "staging" });
  await start({ signatures: 10, environments: 1, releases: 1 }, (step) => {
    if (step === "inserted" && left-- > 0) throw new Error("for the test");
  });
  await processed();
  expect(left).toBeLessThan(0);
  expect(await counted()).toEqual({ signatures: 10, tooMany: 20 });
  expect(await made()).toEqual({ signature: 10, environment: 1 });

  // One that was stopped in the meantime, and goes on with another bound: what stands is what counts.
  for (const consumer of consumers.splice(0)) await consumer.stop();
  const failing = vi.fn<(step: BatchStep) => void>((step) => {
    if (step === "inserted") throw new Error("for the test");
  });
  await send(kinds(3, "again"));
  await start({ signatures: 12 }, failing);
  await vi.waitUntil(() => failing.mock.calls.some(([step]) => step === "inserted"), { timeout: 60_000 });
  for (const consumer of consumers.splice(0)) await consumer.stop();
  await start({ signatures: 1 });
  await processed();
  expect(await counted()).toEqual({ signatures: 12, tooMany: 21 });
  expect(await made()).toEqual({ signature: 12, environment: 2 });
});
