import type { ServerResponse } from "node:http";
import { setTimeout as wait } from "node:timers/promises";
import { asc, eq } from "drizzle-orm";
import { quantile } from "../bench/measuring.ts";
import { webhookDeliveries, webhooks } from "../schemas/tables/all.ts";
import type { Certificate } from "../testing/certificate.ts";
import { startReceiver, type Receiver } from "../testing/receiver.ts";
import { underLoad, type FaultResult, type Form } from "./fault.ts";
import type { Stage } from "./stage.ts";

/** The specification's plan is a day long; this one is as exact. */
const DELAYS_MS: Record<Form, readonly number[]> = { short: [1_000, 2_000, 4_000], long: [5_000, 15_000, 30_000, 60_000, 120_000] };
const TIMEOUT_MS = 2_000;
const EVENTS_PER_SECOND: Record<Form, number> = { short: 200, long: 2_000 };
/** One event for the healthy receiver, and for those that flood. */
const UPDATE_EVERY_MS = 200;
const UPDATES_BEFORE = 40;
/** An incident takes a thousand. */
const UPDATES_EACH = 900;
/** An attempt comes never before its moment, and at most so long after it. */
const MOST_LATE_MS = 1_000;
const MOST_TIMES = 2;
/** Less than a turn behind one that hangs. */
const NOISE_MS = 1_000;

/** Each kind of bad receiver, by the path of its webhook. */
const BAD: Record<string, (response: ServerResponse) => void> = {
  hang: () => undefined,
  drop: (response) => void response.socket!.destroy(),
  redirect: (response) => void response.writeHead(302, { location: "/elsewhere" }).end(),
  "500": (response) => void response.writeHead(500).end(),
  "410": (response) => void response.writeHead(410).end(),
  drip: dripping,
};
/** Those which time out; the others fail at once. */
const SLOW = new Set(["hang", "drip"]);

/** A byte a second. */
function dripping(response: ServerResponse): void {
  response.writeHead(200, { "content-length": "1000" });
  const writing = setInterval(() => response.write("x"), 1_000);
  response.on("close", () => clearInterval(writing));
}

interface Receiving {
  urlOf(path: string): string;
  stop(): Promise<void>;
  /** When requests came, by path, ms since 1970. */
  arrivals: Map<string, number[]>;
  /** ms from an event to its arrival at the healthy receiver, since the last call. */
  takeDelays(): number[];
}

/** The settings of the stage's processes. */
export function badReceiversSettings(form: Form, { file }: Certificate): Record<string, string> {
  return { OUTBOUND_ALLOW: "127.0.0.0/8,::1/128", OUTBOUND_CA_FILE: file, WEBHOOK_TIMEOUT_MS: String(TIMEOUT_MS), WEBHOOK_RETRY_DELAYS: DELAYS_MS[form].map((delay) => `${delay}ms`).join(",") };
}

/**
 * Fault f: receivers of webhooks that hang, drop, redirect, answer 500 and 410, and a byte a second. Six get one event, and are tried exactly
 * as planned until they are disabled; six get as many events as a healthy one of the same organization, whom that does not delay.
 */
export async function badReceivers(stage: Stage, form: Form, certificate: Certificate): Promise<FaultResult> {
  const receiving = await startReceiving(certificate);
  try {
    return await underLoad(stage, { fault: "f: bad receivers", eventsPerSecond: EVENTS_PER_SECOND[form], recoverMs: 60_000 }, async ({ organization: { apiKey }, want }) => {
      const post = (path: string, body: object) => postJson(stage, apiKey, path, body);
      const subscribe = async (path: string, event: string) => (await post("/webhooks", { name: path, url: receiving.urlOf(path), events: [event] })).webhook!.id;
      const incidents: string[] = [];
      for (let left = lastsMs(form) / UPDATE_EVERY_MS + UPDATES_BEFORE; left > 0; left -= UPDATES_EACH) incidents.push((await post("/incidents", { title: "Slow" })).id as unknown as string);
      const update = () => post(`/incidents/${incidents[Math.floor(updates / UPDATES_EACH)]!}/updates`, { message: "We are still looking into it." });
      await subscribe("/healthy", "incident.updated");
      let updates = 0;
      const updateWhile = async (goesOn: () => boolean) => {
        for (; goesOn(); updates++) await Promise.all([update(), wait(UPDATE_EVERY_MS)]);
      };
      await updateWhile(() => updates < UPDATES_BEFORE);
      await untilArrived(receiving, updates);
      const before = quantile(receiving.takeDelays(), 0.99);

      const ids = new Map<string, string>();
      for (const kind of Object.keys(BAD)) ids.set(kind, await subscribe(`/once/${kind}`, "incident.created"));
      for (const kind of Object.keys(BAD)) await subscribe(`/flood/${kind}`, "incident.updated");
      await post("/incidents", { title: "Slower" });
      const over = Date.now() + lastsMs(form);
      await updateWhile(() => Date.now() < over);
      await untilArrived(receiving, updates);
      const p99 = quantile(receiving.takeDelays(), 0.99);
      want(p99 <= Math.max(MOST_TIMES * before, NOISE_MS), `the healthy receiver's p99 is ${p99.toFixed(0)} ms beside ${before.toFixed(0)} ms without bad ones`);
      want(receiving.arrivals.get("/healthy")!.length === updates, `the healthy receiver got ${receiving.arrivals.get("/healthy")!.length} of ${updates} events`);
      want(!receiving.arrivals.has("/elsewhere"), "a redirect was followed");
      let latest = 0;
      for (const [kind, id] of ids) latest = Math.max(latest, await judgeSchedule(stage, { kind, id, form, arrivals: receiving.arrivals.get(`/once/${kind}`) ?? [], want }));
      return `6 kinds, retries after ${DELAYS_MS[form].map((delay) => `${delay / 1_000} s`).join(", ")}, at most ${latest} ms late; healthy p99 ${before.toFixed(0)} → ${p99.toFixed(0)} ms (${updates} events)`;
    });
  } finally {
    await receiving.stop();
  }
}

/** Until the slowest has failed for the last time, with what each attempt may be late. */
function lastsMs(form: Form): number {
  return DELAYS_MS[form].reduce((sum, delay) => sum + delay + TIMEOUT_MS + MOST_LATE_MS, TIMEOUT_MS + MOST_LATE_MS);
}

/** Each kind at an address of its own, as receivers are: connections are kept for an address. */
async function startReceiving(certificate: Certificate): Promise<Receiving> {
  const arrivals = new Map<string, number[]>();
  const delays: number[] = [];
  const receivers = new Map<string, Receiver>();
  for (const kind of ["healthy", ...Object.keys(BAD)]) {
    const receiver = await startReceiver(certificate, (response, { path, body }) => {
      const at = Date.now();
      arrivals.set(path, [...(arrivals.get(path) ?? []), at]);
      if (BAD[kind]) return BAD[kind](response);
      delays.push(at - Date.parse((JSON.parse(body) as { timestamp: string }).timestamp));
      response.end("ok");
    });
    receivers.set(kind, receiver);
  }
  return {
    urlOf: (path) => `${receivers.get(path.split("/").at(-1)!)!.url}${path}`,
    arrivals,
    takeDelays: () => delays.splice(0),
    stop: async () => void (await Promise.all([...receivers.values()].map((each) => each.stop()))),
  };
}

async function untilArrived({ arrivals }: Receiving, count: number): Promise<void> {
  for (const deadline = Date.now() + 30_000; (arrivals.get("/healthy")?.length ?? 0) < count && Date.now() < deadline; ) await wait(50);
}

async function postJson({ base }: Stage, apiKey: string, path: string, body: object): Promise<Record<string, { id: string } | undefined>> {
  const response = await fetch(`${base}/api/v1${path}`, { method: "POST", headers: { "X-API-Key": apiKey, "Content-Type": "application/json" }, body: JSON.stringify(body) });
  if (!response.ok) throw new Error(`POST ${path} was answered ${response.status}: ${await response.text()}`);
  return (await response.json()) as Record<string, { id: string } | undefined>;
}

interface Judged {
  kind: string;
  id: string;
  form: Form;
  /** At the receiver. */
  arrivals: readonly number[];
  want(reached: boolean, sentence: string): void;
}

/** Compares what one receiver saw, and what is recorded, with the plan; gives by how many ms an attempt was late at most. */
async function judgeSchedule({ database }: Stage, { kind, id, form, arrivals, want }: Judged): Promise<number> {
  const rows = await database.select().from(webhookDeliveries).where(eq(webhookDeliveries.webhookId, id)).orderBy(asc(webhookDeliveries.attempt));
  const [webhook] = await database.select({ isActive: webhooks.isActive, disabledReason: webhooks.disabledReason }).from(webhooks).where(eq(webhooks.id, id));
  const gone = kind === "410";
  const delays = gone ? [] : DELAYS_MS[form];
  want(arrivals.length === delays.length + 1, `${kind}: ${arrivals.length} requests instead of ${delays.length + 1}`);
  want(rows.length === arrivals.length && rows.every(({ status }) => status === "failed"), `${kind}: recorded are ${rows.map(({ status }) => status).join(", ")}`);
  want(webhook?.isActive === false && webhook.disabledReason === (gone ? "gone" : "retries_exhausted"), `${kind}: the webhook is ${webhook?.isActive ? "active" : String(webhook?.disabledReason)}`);
  let latest = 0;
  for (const [n, delay] of delays.entries()) {
    const failed = rows[n + 1]?.createdAt.getTime() ?? Number.NaN;
    const planned = rows[n]?.nextRetryAt?.getTime() ?? Number.NaN;
    const took = failed - arrivals[n]!;
    const late = arrivals[n + 1]! - planned;
    const least = SLOW.has(kind) ? TIMEOUT_MS - MOST_LATE_MS : 0;
    want(took >= least && took <= least + 2 * MOST_LATE_MS, `${kind}: attempt ${n + 1} failed after ${took} ms`);
    want(planned - failed === delay, `${kind}: retry ${n + 1} was planned ${planned - failed} ms after the failure`);
    want(late >= 0 && late <= MOST_LATE_MS, `${kind}: retry ${n + 1} came ${late} ms after its moment`);
    latest = Math.max(latest, late);
  }
  return latest;
}
