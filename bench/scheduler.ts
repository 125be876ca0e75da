import type { ChildProcess } from "node:child_process";
import { sql } from "drizzle-orm";
import { newSigningSecret } from "../domain/webhooks/sign.ts";
import { systemClock } from "../platform/clock.ts";
import { newId } from "../platform/ids.ts";
import { makeLog } from "../platform/log.ts";
import { makeOutbound } from "../platform/outbound/outbound.ts";
import { makeUptimeProbe } from "../domain/monitors/uptime/probe.ts";
import { makeDeliveries } from "../processors/deliveries/deliver.ts";
import { runDueMonitors } from "../processors/monitors/run-due.ts";
import { uptimeRunner } from "../processors/monitors/run-uptime.ts";
import { events, uptimeMonitors, webhookDeliveries, webhooks } from "../schemas/tables/all.ts";
import { makeCertificate } from "../testing/certificate.ts";
import { judge, wanted } from "./goals.ts";
import { cpuOf, machine, option, ownCpu, table } from "./measuring.ts";
import { setSchedulerStage, startReceiving, type SchedulerStage } from "./scheduler-stage.ts";

/**
 * Measure 13: what one scheduler does in a second. Uptime monitors that are all due, plain HTTP, a new connection for each check, recorded;
 * and webhook deliveries that are all due, to one host over TLS. The receiver is a process of its own on the same machine.
 * `npx tsx bench/scheduler.ts [--seconds 15] [--organizations 50]`.
 */
const SECONDS = Number(option("seconds", "15"));
const ORGANIZATIONS = Number(option("organizations", "50"));
/** More than can be done in the time, so that there is always work. */
const PLENTY = SECONDS * 5_000;

interface Work {
  name: string;
  done(): Promise<number>;
  start(): void;
  stop(): Promise<void>;
}

/** Runs the work for a while, after a second to get going. */
async function measure(stage: SchedulerStage, receiver: ChildProcess, work: Work): Promise<[name: string, perSecond: number, ...string[]]> {
  await stage.database.execute(sql`vacuum analyze`);
  work.start();
  await new Promise((resolve) => setTimeout(resolve, 1_500));
  const look = async () => ({ done: await work.done(), own: ownCpu(), postgres: stage.postgresCpu(), receiver: cpuOf(receiver.pid!), at: performance.now() });
  const before = await look();
  await new Promise((resolve) => setTimeout(resolve, SECONDS * 1_000));
  const after = await look();
  const memory = Math.round(process.memoryUsage().rss / 2 ** 20);
  await work.stop();
  const count = after.done - before.done;
  const each = (key: "own" | "postgres" | "receiver") => Math.round((after[key] - before[key]) / count).toString();
  return [work.name, Math.round((count / (after.at - before.at)) * 1_000), each("own"), each("postgres"), each("receiver"), `${memory} MiB`];
}

async function measureChecks(stage: SchedulerStage): Promise<[string, number, ...string[]]> {
  const { database, organizationIds } = stage;
  const receiver = await startReceiving({});
  const now = new Date();
  const rules = { method: "GET", headers: {}, timeoutMs: 10_000, expectedStatusCodes: [], followRedirects: true, verifySsl: true, failuresToDown: 2, successesToUp: 1, createIncident: false, status: "up" as const, intervalSeconds: 3_600 };
  const rows = Array.from({ length: PLENTY }, (_, n) => ({ id: newId(), organizationId: organizationIds[n % organizationIds.length]!, name: `Shop ${n}`, url: `http://127.0.0.1:${receiver.port}/shop/${n}`, ...rules, dueAt: now, createdAt: now, updatedAt: now }));
  for (let at = 0; at < rows.length; at += 2_000) await database.insert(uptimeMonitors).values(rows.slice(at, at + 2_000));
  const runner = runDueMonitors({ database, clock: systemClock, config: { SCHEDULER_TICK_MS: 1_000 }, log: makeLog("warn"), runner: uptimeRunner(makeUptimeProbe({ OUTBOUND_PORTS: [], OUTBOUND_ALLOW: ["127.0.0.1"], OUTBOUND_CA_FILE: null })) });
  const done = async () => Number((await database.execute<{ count: string }>(sql`select count(*) from ${uptimeMonitors} where last_checked_at is not null and last_error is null`)).rows[0]!.count);
  const measured = await measure(stage, receiver.child, { name: "checks", done, start: () => runner.start(), stop: () => runner.stop() });
  receiver.child.kill();
  return measured;
}

async function measureDeliveries(stage: SchedulerStage): Promise<[string, number, ...string[]]> {
  const { database, organizationIds } = stage;
  const certificate = makeCertificate();
  const receiver = await startReceiving({ TLS_KEY: certificate.key, TLS_CERT: certificate.cert });
  const at = new Date();
  const hooks = organizationIds.map((organizationId) => ({ id: newId(), organizationId, name: "Bench", url: `https://localhost:${receiver.port}/hook`, signingSecret: newSigningSecret(), events: ["incident.created"], headers: {} }));
  await database.insert(webhooks).values(hooks);
  const happened = hooks.flatMap((hook) => Array.from({ length: PLENTY / hooks.length }, (_, n) => ({ hook, event: { id: newId(), organizationId: hook.organizationId, type: "incident.created" as const, data: { id: newId(), title: `Checkout is slow ${n}`, status: "investigating", severity: "major", services: ["Checkout"], message: "We are looking into it." }, createdAt: at, fannedOutAt: at } })));
  for (let from = 0; from < happened.length; from += 2_000) {
    const some = happened.slice(from, from + 2_000);
    await database.insert(events).values(some.map(({ event }) => event));
    await database.insert(webhookDeliveries).values(some.map(({ hook, event }) => ({ id: newId(), organizationId: hook.organizationId, webhookId: hook.id, eventId: event.id, attempt: 1, trigger: "event" as const, dueAt: at, createdAt: at })));
  }
  const log = makeLog("warn");
  const outbound = makeOutbound({ config: { OUTBOUND_ALLOW: ["127.0.0.1", "::1"], OUTBOUND_PORTS: [], OUTBOUND_CA_FILE: certificate.file } });
  const config = { SCHEDULER_TICK_MS: 1_000, SHUTDOWN_LIMIT_MS: 9_000, WEBHOOK_TIMEOUT_MS: 30_000, WEBHOOK_RETRY_DELAYS: [60_000], WEBHOOK_ALLOW_HTTP: false };
  const deliveries = makeDeliveries({ database, outbound, clock: systemClock, config, log });
  const done = async () => Number((await database.execute<{ count: string }>(sql`select count(*) from ${webhookDeliveries} where status = 'delivered'`)).rows[0]!.count);
  const measured = await measure(stage, receiver.child, { name: "deliveries", done, start: () => deliveries.start(), stop: () => deliveries.stop() });
  await outbound.close();
  receiver.child.kill();
  certificate.remove();
  return measured;
}

const only = option("only", "checks,deliveries").split(",");
const stage = await setSchedulerStage(ORGANIZATIONS);
const rows: [string, number, ...string[]][] = [];
if (only.includes("checks")) rows.push(await measureChecks(stage));
if (only.includes("deliveries")) rows.push(await measureDeliveries(stage));
await stage.stop();
console.log(`${machine()}; ${ORGANIZATIONS} organizations, ${SECONDS} s\n`);
console.log(table([["work", `a second (wanted ${wanted("scheduler/checks")})`, "scheduler, CPU-µs each", "PostgreSQL, CPU-µs each", "receiver, CPU-µs each", "scheduler's memory"], ...rows]));
process.exitCode = rows.map(([work, perSecond]) => judge(work === "deliveries" ? "scheduler/deliveries" : "scheduler/checks", perSecond)).every(Boolean) ? 0 : 1;
