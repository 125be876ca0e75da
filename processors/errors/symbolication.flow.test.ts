import { randomUUID } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { transformSync } from "esbuild";
import { eq } from "drizzle-orm";
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { systemActor } from "../../domain/actor.ts";
import { changeErrorStatus } from "../../domain/errors/change-status.ts";
import { getError } from "../../domain/errors/get.ts";
import type { Group } from "../../domain/errors/group-again.ts";
import { listErrors } from "../../domain/errors/list.ts";
import { listOccurrences } from "../../domain/errors/list-occurrences.ts";
import { createOrganization } from "../../domain/organizations/create.ts";
import { buildIndex } from "../../domain/source-maps/build-index.ts";
import { deleteSourceMap } from "../../domain/source-maps/remove.ts";
import { uploadSourceMap } from "../../domain/source-maps/upload.ts";
import { systemClock } from "../../platform/clock.ts";
import { openEmbeddedLog } from "../../platform/event-log/embedded.ts";
import { encodeFrame } from "../../platform/event-log/frame.ts";
import type { Consumer, EventLog } from "../../platform/event-log/port.ts";
import { makeLog } from "../../platform/log.ts";
import { makeMetrics } from "../../platform/metrics.ts";
import { openDatabase } from "../../platform/postgres/database.ts";
import type { Repeating } from "../../platform/repeat.ts";
import { moduleFile } from "../../platform/root.ts";
import { startWorkerPool, WorkerLost, type WorkerPool } from "../../platform/worker-pool.ts";
import { cursors, errorSignatures, events, lateSourceMaps, sourceMapFiles } from "../../schemas/tables/all.ts";
import { freshClickHouse } from "../../testing/clickhouse.ts";
import { freshDatabase } from "../../testing/postgres.ts";
import { TriedAgain } from "../consume/decide-failure.ts";
import { makeLateMaps } from "../late-maps/regroup-late.ts";
import type { GroupsTask } from "../late-maps/worker.ts";
import { startErrorConsumer, type ErrorRowsPool } from "./consume.ts";
import { startMapServer, withMaps, type MapServer } from "./serve-maps.ts";

const log = makeLog(process.env.PHAROS_TEST_LOG ?? "silent");

let folder: string;
let postgres: Awaited<ReturnType<typeof freshDatabase>>;
let clickhouse: Awaited<ReturnType<typeof freshClickHouse>>;
let tenant: { organizationId: string; serviceId: string };
let eventLog: EventLog;
let maps: MapServer;
let pool: ErrorRowsPool;
let consumer: Consumer;
let groups: WorkerPool<GroupsTask, Group[]>;
let lateMaps: Repeating;
let sequence = 0n;
const edgeId = randomUUID();

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "pharos-symbolication-"));
  postgres = await freshDatabase();
  clickhouse = await freshClickHouse();
  eventLog = await openEmbeddedLog({ folder, partitions: 1, retentionBytes: 1e9, retentionMs: 1e9, clock: systemClock, log });
  maps = startMapServer({ database: postgres.database, databaseUrl: postgres.url, log, bytes: 16e6 });
  pool = startWorkerPool({ file: moduleFile("./worker.ts", import.meta.url), name: "rowsOfRecords", threads: 1 });
  groups = startWorkerPool({ file: moduleFile("../late-maps/worker.ts", import.meta.url), name: "groupsOfRows", threads: 1, kept: 0 });
  consumer = await startErrorConsumer({ eventLog, database: postgres.database, clickhouse: clickhouse.clickhouse, clock: systemClock, log, metrics: makeMetrics(), pool: withMaps(pool, maps) });
});
afterAll(async () => {
  await consumer.stop();
  await maps.stop();
  await Promise.all([pool.close(), groups.close()]);
  await eventLog.close();
  await postgres.drop();
  await clickhouse.drop();
  await rm(folder, { recursive: true, force: true });
});

const lateNeeds = () => ({ database: postgres.database, clickhouse: clickhouse.clickhouse, clock: systemClock, log, config: { SCHEDULER_TICK_MS: 20 }, pool: withMaps(groups, maps), maps });

beforeEach(async () => {
  lateMaps = makeLateMaps(lateNeeds());
  await postgres.database.delete(lateSourceMaps);
  tenant = await createOrganization(postgres.database, { name: "Maps", plan: "team" });
});

const SOURCE = `// A cart.
export class Cart {
  constructor(items) {
    this.items = items;
  }
  total() {
    return this.items.map((item) => item.price.amount);
  }
}
`;
const DEBUG_ID = "5a1d9c3e-7f42-4b60-9e5d-0c8f3b2a1d67";

/** The class on one line, and where in it the amount is read, and the callback passed on. */
interface At {
  line: number;
  column: number;
}

function build(debugId?: string): { map: string; inner: At; outer: At } {
  const { code, map } = transformSync(SOURCE, { minify: true, sourcemap: "external", sourcefile: "src/cart.js" });
  const at = (text: string) => {
    const start = code.indexOf(text) + 1;
    return { line: code.slice(0, start).split("\n").length, column: start - code.lastIndexOf("\n", start) };
  };
  return { map: JSON.stringify({ ...(JSON.parse(map) as object), ...(debugId && { debugId }) }), inner: at(".amount"), outer: at(".map(") };
}

async function upload(url: string, map: string, release = "1.0.0"): Promise<string> {
  const path = join(folder, randomUUID());
  const file = { path, hash: randomUUID().replaceAll("-", "").repeat(2), sizeBytes: map.length };
  const { id } = await uploadSourceMap(postgres.database, () => buildIndex(Buffer.from(map)), systemActor(tenant.organizationId, "test"), { service_id: tenant.serviceId, release, url, file }, new Date());
  return id;
}

async function send(event: object, release: string | null = "1.0.0"): Promise<void> {
  const body = Buffer.from(JSON.stringify({ key: "bpk_", release, session_id: randomUUID(), events: [{ type: "error", error_type: "TypeError", message: "x is undefined", ...event }] }));
  const entry = { requestNumber: 0, receivedAt: Date.now(), detached: true, organizationId: tenant.organizationId, subjectId: tenant.serviceId, body };
  await eventLog.append("beacons", 0, encodeFrame({ edgeId, sequence: (sequence += 1n) }, [entry]));
  const [end] = await eventLog.ends("beacons");
  await vi.waitFor(
    async () => {
      const rows = await postgres.database.select().from(cursors);
      expect(rows[0]?.nextOffset).toBe(end);
    },
    { timeout: 60_000, interval: 20 },
  );
}

const signatures = () => postgres.database.select().from(errorSignatures).where(eq(errorSignatures.serviceId, tenant.serviceId)).orderBy(errorSignatures.firstSeen);
const detail = (id: string) => getError({ database: postgres.database, clickhouse: clickhouse.clickhouse }, tenant.organizationId, id, Date.now());
const stackAt = (file: string, { inner, outer }: { inner: At; outer: At }) => `TypeError: x is undefined\n    at ${file}:${inner.line}:${inner.column}\n    at Array.map (<anonymous>)\n    at t.n (${file}:${outer.line}:${outer.column})`;

describe("a frame of a script with a map", () => {
  it("shows its source, function and context, and is grouped by them", async () => {
    const { map, ...at } = build();
    await upload("~/assets/app-Bv3xYaK9.js", map);
    await send({ stack: stackAt("https://shop.example/assets/app-Bv3xYaK9.js?v=2", at) });

    const [signature] = await signatures();
    const { frames, grouping, culprit, latest_occurrence: latest } = await detail(signature!.id);
    expect(frames[0]).toMatchObject({ file: "https://shop.example/assets/app-Bv3xYaK9.js?v=2", in_app: true, unmapped_reason: null, original: { source: "src/cart.js", line: 7, name: null } });
    expect(frames[0]!.original!.context).toEqual({ pre: SOURCE.split("\n").slice(1, 6), line: "    return this.items.map((item) => item.price.amount);", post: ["  }", "}", ""] });
    expect(frames[1]).toMatchObject({ original: null, unmapped_reason: "not_applicable" });
    expect(frames[2]).toMatchObject({ function: "t.n", original: { source: "src/cart.js", line: 7, name: "total" } });
    expect(frames).toEqual(latest!.frames.map((frame, at) => Object.assign({}, frame, { grouping: frames[at]!.grouping })));
    expect(frames.map((frame) => frame.grouping)).toEqual(["counted", "native", "counted"]);
    expect([culprit, grouping.parts.map(({ value }) => value)]).toEqual(["src/cart.js", ["TypeError", "src/cart.js: return this.items.map((item) => item.price.amount);", "total in src/cart.js"]]);
  });

  it("keeps its context when the map is deleted", async () => {
    const { map, ...at } = build();
    const id = await upload("~/app.js", map);
    await send({ stack: stackAt("https://shop.example/app.js", at) });
    await deleteSourceMap(postgres.database, systemActor(tenant.organizationId, "test"), id);
    const [signature] = await signatures();
    const { frames, latest_occurrence: latest } = await detail(signature!.id);
    expect(frames[0]!.original!.context!.line).toContain("item.price.amount");
    expect(latest!.frames[0]!.original).toMatchObject({ source: "src/cart.js", line: 7, context: null });
  });

  it("is found by its debug id first, whatever the url and the release", async () => {
    const { map, ...at } = build(DEBUG_ID);
    await upload("~/elsewhere.js", map, "0.9.0");
    await send({ stack: stackAt("https://shop.example/app.js", at), debug_ids: { "https://shop.example/app.js": DEBUG_ID.toUpperCase() } }, null);
    const [signature] = await signatures();
    expect((await detail(signature!.id)).frames[0]).toMatchObject({ unmapped_reason: null, original: { source: "src/cart.js", line: 7 } });
  });

  it("joins what other engines print of the same place", async () => {
    const { map, inner, outer } = build();
    await upload("~/app.js", map);
    const file = "https://shop.example/app.js";
    for (const stack of [stackAt(file, { inner, outer }), `n/<@${file}:${inner.line}:${inner.column}\nn@${file}:${outer.line}:${outer.column}`, `${file}:${inner.line}:${inner.column + 3}\nmap@[native code]\nn@${file}:${outer.line}:${outer.column + 1}`]) await send({ stack });
    expect(await signatures()).toMatchObject([{ occurrences: 3 }]);
  });
});

describe("a frame without an original says why", () => {
  it.each<[string, { release?: string | null; line?: number; damaged?: boolean; file?: string }, string]>([
    ["the event names no release", { release: null }, "no_release"],
    ["the release has no map for the url", { file: "https://shop.example/other.js" }, "no_map_for_url"],
    ["the release has no maps", { release: "2.0.0" }, "no_map_for_url"],
    ["the map knows nothing of the place", { line: 999 }, "position_not_in_map"],
    ["the map cannot be read", { damaged: true }, "map_invalid"],
  ])("%s", async (_name, { release = "1.0.0", line, damaged = false, file = "https://shop.example/app.js" }, reason) => {
    const { map, ...at } = build();
    await upload("~/app.js", map);
    if (damaged) await postgres.database.update(sourceMapFiles).set({ index: Buffer.from("no index") }).where(eq(sourceMapFiles.organizationId, tenant.organizationId));
    await send({ stack: stackAt(file, line === undefined ? at : { inner: { line, column: 1 }, outer: at.outer }) }, release);
    const [signature] = await signatures();
    expect((await detail(signature!.id)).frames[0]).toMatchObject({ original: null, unmapped_reason: reason });
  });
});

describe("a map that comes late", () => {
  const url = "https://shop.example/app.js";
  const settled = () => vi.waitFor(async () => expect(await postgres.database.$count(lateSourceMaps)).toBe(0), { timeout: 20_000, interval: 20 });
  const told = async () => (await postgres.database.select({ type: events.type }).from(events).where(eq(events.organizationId, tenant.organizationId))).map(({ type }) => type);
  const needs = () => ({ database: postgres.database, clickhouse: clickhouse.clickhouse });

  it("makes the errors from before what they would have been, with all their events under one id, and the old id leads there", async () => {
    const { map, ...at } = build();
    await send({ stack: stackAt(url, at) });
    await send({ stack: stackAt(url, at) });
    const [before] = await signatures();
    await upload("~/app.js", map);
    lateMaps.start();
    await settled();
    await lateMaps.stop();
    const [after] = await signatures();
    expect(after!.id).not.toBe(before!.id);
    await send({ stack: stackAt(url, at) });
    // Of a release without a map, so under the old id in ClickHouse for ever.
    await send({ stack: stackAt(url, at) }, "2.0.0");

    const shown = await detail(before!.id);
    expect(shown).toMatchObject({ id: after!.id, occurrences: 4, sessions_affected: 4, culprit: "src/cart.js", grouping: { parts: [{}, { value: "src/cart.js: return this.items.map((item) => item.price.amount);" }, { value: "total in src/cart.js" }] } });
    expect(shown.frames[0]!.original!.context!.line).toContain("item.price.amount");
    expect(shown.by_release.map(({ release, occurrences }) => [release, occurrences])).toEqual([["2.0.0", 1], ["1.0.0", 3]]);
    // The latest event is of a release without maps; the first ones are shown through the map that came after them.
    const { occurrences } = await listOccurrences(needs(), tenant.organizationId, before!.id, { limit: 50, offset: 0 });
    expect(occurrences.map(({ frames }) => frames[0]!.original?.context?.line ?? frames[0]!.unmapped_reason)).toEqual(["no_map_for_url", ...Array.from({ length: 3 }, () => "    return this.items.map((item) => item.price.amount);")]);
    expect(shown.trend.reduce((sum, hour) => sum + hour, 0)).toBe(4);
    expect((await listOccurrences(needs(), tenant.organizationId, before!.id, { limit: 50, offset: 0 })).total).toBe(4);
    expect(await listErrors(needs(), tenant.organizationId, { release: "2.0.0", limit: 50, offset: 0 }, Date.now())).toMatchObject({ total: 1, errors: [{ id: after!.id, sessions_affected: 4 }] });
    expect([await signatures(), await told()]).toMatchObject([[{ occurrences: 4 }], ["error.new"]]);
  });

  it("lets the next event be of the same error before the others are looked through, and bring it back when it was resolved", async () => {
    const { map, ...at } = build();
    await send({ stack: stackAt(url, at) });
    const { id } = (await signatures())[0]!;
    await changeErrorStatus(needs(), systemActor(tenant.organizationId, "test"), id, { status: "resolved", now: Date.now() });
    await upload("~/app.js", map);
    await vi.waitFor(
      async () => {
        await send({ stack: stackAt(url, at) });
        expect(await signatures()).toMatchObject([{ status: "regressed", culprit: "src/cart.js" }]);
      },
      { timeout: 10_000, interval: 20 },
    );
    expect(await told()).toEqual(["error.new", "error.regressed"]);
    expect((await detail(id)).sessions_affected).toBe((await signatures())[0]!.occurrences);
  });

  it("joins what exists already, and goes on where it was when it is interrupted", async () => {
    const { map, ...at } = build();
    // The same place, in scripts that are grouped apart without their maps.
    for (const name of ["one", "two", "three"]) await send({ stack: stackAt(`https://shop.example/${name}.js`, at) });
    for (const name of ["one", "two", "three"]) await upload(`~/${name}.js`, map);
    let calls = 0;
    const failing = makeLateMaps({ ...lateNeeds(), pool: { run: (task) => (calls++ === 0 ? Promise.reject(new WorkerLost("for the test")) : withMaps(groups, maps).run(task)), close: () => groups.close() } });
    await postgres.database.update(lateSourceMaps).set({ dueAt: new Date() });
    failing.start();
    // The claim of the attempt that failed ends.
    await vi.waitFor(async () => expect(calls).toBe(1));
    await postgres.database.update(lateSourceMaps).set({ dueAt: new Date() });
    await settled();
    await failing.stop();
    expect([await signatures(), await told()]).toMatchObject([[{ occurrences: 3, culprit: "src/cart.js" }], ["error.new", "error.new", "error.new"]]);
    expect((await detail((await signatures())[0]!.id)).sessions_affected).toBe(3);
  });
});

describe("what was grouped without a map", () => {
  const url = "https://shop.example/app.js";
  const settled = () => vi.waitFor(async () => expect(await postgres.database.$count(lateSourceMaps)).toBe(0), { timeout: 20_000, interval: 20 });

  it("is left alone by an error of another release, which may be another one with names as short", async () => {
    const { map, ...at } = build();
    await send({ stack: stackAt(url, at) });
    await upload("~/app.js", map, "2.0.0");
    await postgres.database.delete(lateSourceMaps);
    maps.changed();
    await send({ stack: stackAt(url, at) }, "2.0.0");
    expect(await signatures()).toMatchObject([{ culprit: "/app.js" }, { culprit: "src/cart.js" }]);
  });

  it("follows maps of two releases that call it by two names, however often they come", async () => {
    const { map, ...at } = build();
    await send({ stack: stackAt(url, at) });
    await send({ stack: stackAt(url, at) }, "2.0.0");
    lateMaps.start();
    for (const release of ["1.0.0", "2.0.0", "1.0.0", "2.0.0"]) {
      await upload("~/app.js", map.replaceAll("src/cart.js", `src/cart-of-${release}.js`), release);
      await postgres.database.update(lateSourceMaps).set({ dueAt: new Date() });
      await settled();
    }
    await lateMaps.stop();
    const [signature, ...others] = await signatures();
    expect([signature!.occurrences, others]).toEqual([2, []]);
    expect((await detail(signature!.id)).sessions_affected).toBe(2);
  });
});

it("blames no event when maps cannot be read, and does not take them for missing", async () => {
  const away = openDatabase("postgres://nobody@127.0.0.1:1/none", 1, log);
  const server = startMapServer({ database: away, databaseUrl: postgres.url, log, bytes: 1e6 });
  const record = { partition: 0, offset: 0n, value: encodeFrame({ edgeId, sequence: 1n }, [{ requestNumber: 0, receivedAt: Date.now(), detached: true, organizationId: tenant.organizationId, subjectId: tenant.serviceId, body: Buffer.from(JSON.stringify({ key: "bpk_", release: "1", events: [{ type: "error", message: "x", stack: "f@https://x.example/a.js:1:1" }] })) }]) };
  try {
    await expect(withMaps(pool, server).run({ logId: "log", records: [record] })).rejects.toThrow(TriedAgain);
  } finally {
    await server.stop();
    await away.$client.end();
  }
});

it("hears of an upload at once, although it has looked in vain before", async () => {
  const { map, ...at } = build();
  await send({ message: "before", stack: stackAt("https://shop.example/app.js", at) });
  await upload("~/app.js", map);
  await vi.waitFor(
    async () => {
      await send({ message: "after", stack: stackAt("https://shop.example/app.js", at) });
      expect((await signatures()).map(({ culprit }) => culprit)).toContain("src/cart.js");
    },
    { timeout: 10_000, interval: 20 },
  );
});
