import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, expect, it, vi } from "vitest";
import { newId } from "../../platform/ids.ts";
import type { Database } from "../../platform/postgres/database.ts";
import { LOADER_ARGUMENTS, moduleFile } from "../../platform/root.ts";
import { checkResults, organizations, uptimeMonitors } from "../../schemas/tables/all.ts";
import { freshDatabase } from "../../testing/postgres.ts";
import { TEST_SECRETS_KEY } from "../../testing/secrets-key.ts";

const MONITORS = 60;
const INTERVAL_MS = 1_000;
const ANSWER_MS = 300;
const TIMEOUT_MS = 1_000;
/** Room to record on a busy machine, as the lease of a real scheduler has it. */
const LEASE_MS = 3_000;
const KILLS = 3;
/** What a busy machine may add to a lease. */
const SLACK_MS = 6_000;

/** One request for a monitor's path, as the server saw it. */
interface Asked {
  at: number;
  answered: number | null;
  /** Other requests for the same path that were open when it came. */
  beside: number;
}

const asked = new Map<string, Asked[]>();
const open = new Map<string, number>();
let cutOff = 0;
const server = createServer((request, response) => {
  const path = request.url!;
  const entry: Asked = { at: Date.now(), answered: null, beside: open.get(path) ?? 0 };
  asked.get(path)!.push(entry);
  open.set(path, entry.beside + 1);
  const answer = setTimeout(() => response.end("ok"), ANSWER_MS);
  response.on("finish", () => (entry.answered = Date.now()));
  // Also when its asker was killed.
  response.on("close", () => {
    clearTimeout(answer);
    if (entry.answered === null) cutOff++;
    open.set(path, open.get(path)! - 1);
  });
});
const openNow = () => [...open.values()].reduce((sum, each) => sum + each, 0);
const askedSoFar = () => [...asked.values()].map((each) => each.length);

let database: Database;
let url: string;
let drop: () => Promise<void>;
const schedulers = new Set<ChildProcess>();

beforeAll(async () => {
  ({ database, url, drop } = await freshDatabase());
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
});
afterAll(async () => {
  await Promise.all([...schedulers].map(kill));
  server.closeAllConnections();
  server.close();
  await drop();
});

async function startScheduler(): Promise<ChildProcess> {
  const child = spawn(process.execPath, [...LOADER_ARGUMENTS, moduleFile("./kill-scheduler.child.ts", import.meta.url), url, String(LEASE_MS), String(MONITORS)], { stdio: ["ignore", "pipe", "inherit"], env: { ...process.env, SECRETS_KEY: TEST_SECRETS_KEY } });
  schedulers.add(child);
  await once(child.stdout, "data");
  return child;
}

async function kill(child: ChildProcess): Promise<void> {
  child.kill("SIGKILL");
  await once(child, "exit");
  schedulers.delete(child);
}

async function addMonitors(): Promise<string[]> {
  const organizationId = newId();
  await database.insert(organizations).values({ id: organizationId, name: "Acme", plan: "team" });
  const now = new Date();
  const rules = { method: "GET", headers: {}, intervalSeconds: INTERVAL_MS / 1_000, timeoutMs: TIMEOUT_MS, expectedStatusCodes: [], followRedirects: true, verifySsl: true, failuresToDown: 2, successesToUp: 1, createIncident: false, status: "up" as const };
  const rows = Array.from({ length: MONITORS }, (_, n) => ({ id: newId(), organizationId, name: `Shop ${n}`, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/${n}`, ...rules, dueAt: now, createdAt: now, updatedAt: now }));
  for (const index of rows.keys()) asked.set(`/${index}`, []);
  await database.insert(uptimeMonitors).values(rows);
  return rows.map(({ id }) => id);
}

it("two schedulers, one of which is killed again and again, run no check twice at a time, record each once and leave none out", async () => {
  const ids = await addMonitors();
  let [one, other] = await Promise.all([startScheduler(), startScheduler()]);
  const kills: number[] = [];
  while (kills.length < KILLS) {
    const before = askedSoFar();
    await vi.waitFor(() => expect(openNow()).toBeGreaterThan(5), { timeout: 60_000, interval: 5 });
    kills.push(Date.now());
    await kill(one);
    [one, other] = [other, await startScheduler()];
    // What the killed one held comes back when its leases end.
    await vi.waitFor(() => askedSoFar().forEach((count, n) => expect(count).toBeGreaterThan(before[n]! + 1)), { timeout: 60_000, interval: 20 });
  }
  const end = Date.now();
  for (const each of [one, other]) {
    each.kill("SIGTERM");
    await once(each, "exit");
    schedulers.delete(each);
  }

  const all = [...asked.values()].flat();
  expect(all.filter(({ beside }) => beside > 0)).toEqual([]);
  // The kills did cut checks off, or this would have tried nothing.
  expect(cutOff).toBeGreaterThan(0);

  const results = await database.select({ monitorId: checkResults.monitorId, checkedAt: checkResults.checkedAt, result: checkResults.result }).from(checkResults);
  expect(new Set(results.map(({ result }) => result.status))).toEqual(new Set(["up"]));
  let unrecorded = 0;
  for (const [n, requests] of [...asked.values()].entries()) {
    const recorded = results.filter(({ monitorId }) => monitorId === ids[n]).map(({ checkedAt }) => checkedAt.getTime());
    const perRequest = requests.map(({ at }, index) => recorded.filter((each) => each >= at && each < (requests[index + 1]?.at ?? Number.POSITIVE_INFINITY)).length);
    expect(Math.max(...perRequest)).toBe(1);
    expect(perRequest.reduce((sum, each) => sum + each, 0)).toBe(recorded.length);
    // An answer that was recorded by nobody came shortly before its asker was killed or stopped.
    const lost = requests.filter(({ answered }, index) => answered !== null && perRequest[index] === 0);
    for (const { answered } of lost) expect([...kills, end].some((ended) => ended + TIMEOUT_MS > answered! && ended - LEASE_MS < answered!)).toBe(true);
    unrecorded += lost.length;
    const gaps = [...requests.slice(1).map(({ at }) => at), end].map((at, index) => at - requests[index]!.at);
    expect(Math.max(...gaps)).toBeLessThan(INTERVAL_MS + LEASE_MS + SLACK_MS);
  }
  expect(unrecorded).toBeLessThan(MONITORS);
});
