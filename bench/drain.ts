import { sql } from "drizzle-orm";
import { newSigningSecret } from "../domain/webhooks/sign.ts";
import { systemClock } from "../platform/clock.ts";
import { newId } from "../platform/ids.ts";
import { makeLog } from "../platform/log.ts";
import { makeOutbound } from "../platform/outbound/outbound.ts";
import { uuids } from "../platform/postgres/uuids.ts";
import { makeDeliveries } from "../processors/deliveries/deliver.ts";
import { events, webhookDeliveries, webhooks } from "../schemas/tables/all.ts";
import { makeCertificate } from "../testing/certificate.ts";
import { machine, option, table } from "./measuring.ts";
import { setSchedulerStage, startReceiving, type SchedulerStage } from "./scheduler-stage.ts";

/**
 * How a backlog drains: webhook deliveries that are all due, of which one in a hundred webhooks hangs for ever. Measured until the last
 * healthy one is delivered, and how the healthy ones of organizations with a hanging one fared beside the others.
 * `npx tsx bench/drain.ts [--deliveries 100000] [--webhooks 200] [--organizations 50] [--hanging 2]`;
 * `--hanging 0` is what to compare it with.
 */
const DELIVERIES = Number(option("deliveries", "100000"));
const WEBHOOKS = Number(option("webhooks", "200"));
const ORGANIZATIONS = Number(option("organizations", "50"));
const HANGING = Number(option("hanging", String(Math.ceil(WEBHOOKS / 100))));
/** Of a hanging receiver; 30 s by default in the service. */
const TIMEOUT_MS = 5_000;
const LIMIT_MS = 600_000;
const LOOK_MS = 500;

interface Backlog {
  /** Those whose receivers answer. */
  healthy: number;
  /** Organizations that have a webhook which hangs. */
  beside: string[];
}

async function fill({ database, organizationIds }: SchedulerStage, port: number): Promise<Backlog> {
  const at = new Date();
  const hooks = Array.from({ length: WEBHOOKS }, (_, n) => ({
    id: newId(), organizationId: organizationIds[n % ORGANIZATIONS]!, name: n < HANGING ? "Hanging" : "Healthy", url: `https://localhost:${port}/${n < HANGING ? "hang" : `hook/${n}`}`,
    signingSecret: newSigningSecret(), events: ["incident.created"], headers: {},
  }));
  await database.insert(webhooks).values(hooks);
  const each = Math.ceil(DELIVERIES / WEBHOOKS);
  for (let n = 0; n < each; n++) {
    const happened = hooks.map((hook) => ({ hook, event: { id: newId(), organizationId: hook.organizationId, type: "incident.created" as const, data: { id: newId(), title: `Checkout is slow ${n}`, status: "investigating", severity: "major", services: ["Checkout"], message: "We are looking into it." }, createdAt: at, fannedOutAt: at } }));
    await database.insert(events).values(happened.map(({ event }) => event));
    await database.insert(webhookDeliveries).values(happened.map(({ hook, event }) => ({ id: newId(), organizationId: hook.organizationId, webhookId: hook.id, eventId: event.id, attempt: 1, trigger: "event" as const, dueAt: at, createdAt: at })));
  }
  await database.execute(sql`vacuum analyze`);
  return { healthy: each * (WEBHOOKS - HANGING), beside: [...new Set(hooks.slice(0, HANGING).map(({ organizationId }) => organizationId))] };
}

const mebibytes = () => Math.round(process.memoryUsage().rss / 2 ** 20);

async function drain(stage: SchedulerStage): Promise<void> {
  const { database } = stage;
  const certificate = makeCertificate();
  const receiver = await startReceiving({ TLS_KEY: certificate.key, TLS_CERT: certificate.cert });
  const { healthy, beside } = await fill(stage, receiver.port);
  const outbound = makeOutbound({ config: { OUTBOUND_ALLOW: ["127.0.0.1", "::1"], OUTBOUND_PORTS: [], OUTBOUND_CA_FILE: certificate.file } });
  // Retries that would come within the run would hang as well.
  const config = { SCHEDULER_TICK_MS: 1_000, SHUTDOWN_LIMIT_MS: 2_000, WEBHOOK_TIMEOUT_MS: TIMEOUT_MS, WEBHOOK_RETRY_DELAYS: [60_000, 300_000], WEBHOOK_ALLOW_HTTP: false };
  const deliveries = makeDeliveries({ database, outbound, clock: systemClock, config, log: makeLog("warn") });
  const count = async (condition: ReturnType<typeof sql>) => Number((await database.execute<{ count: string }>(sql`select count(*) from ${webhookDeliveries} where ${condition}`)).rows[0]!.count);
  const ofBeside = sql`organization_id = any(${uuids(beside)})`;
  const healthyBeside = (healthy / (WEBHOOKS - HANGING)) * (WEBHOOKS / ORGANIZATIONS - 1) * beside.length;

  const memory = [mebibytes()];
  const doneAfter = { all: Number.NaN, beside: Number.NaN, others: Number.NaN, half: Number.NaN };
  const began = performance.now();
  deliveries.start();
  while (Number.isNaN(doneAfter.all) && performance.now() - began < LIMIT_MS) {
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
    const all = await count(sql`status = 'delivered'`);
    const seconds = (performance.now() - began) / 1_000;
    memory.push(mebibytes());
    if (Number.isNaN(doneAfter.half) && all >= healthy / 2) doneAfter.half = seconds;
    const delivered = await count(sql`status = 'delivered' and ${ofBeside}`);
    if (Number.isNaN(doneAfter.beside) && delivered >= healthyBeside) doneAfter.beside = seconds;
    if (Number.isNaN(doneAfter.others) && all - delivered >= healthy - healthyBeside) doneAfter.others = seconds;
    if (all >= healthy) doneAfter.all = seconds;
  }
  const failed = await count(sql`status = 'failed'`);
  await deliveries.stop();
  await outbound.close();
  receiver.child.kill();
  certificate.remove();

  const seconds = (value: number) => (Number.isNaN(value) ? "never" : `${value.toFixed(1)} s`);
  const part = (share: number) => `${memory[Math.floor((memory.length - 1) * share)]} MiB`;
  console.log(`${machine()}; ${DELIVERIES} deliveries, ${WEBHOOKS} webhooks of ${ORGANIZATIONS} organizations, ${HANGING} hang until ${TIMEOUT_MS / 1_000} s\n`);
  console.log(table([
    ["healthy", "half of them after", "all after", "a second", "beside a hanging one after", "of others after", "hanging attempts failed", "RSS at start", "quarter", "half", "three quarters", "end", "most"],
    [healthy, seconds(doneAfter.half), seconds(doneAfter.all), Math.round(healthy / doneAfter.all), seconds(doneAfter.beside), seconds(doneAfter.others), failed, part(0), part(0.25), part(0.5), part(0.75), part(1), `${Math.max(...memory)} MiB`],
  ]));
  process.exitCode = Number.isNaN(doneAfter.all) ? 1 : 0;
}

const stage = await setSchedulerStage(ORGANIZATIONS);
await drain(stage);
await stage.stop();
