import { createHmac } from "node:crypto";
import type { ServerResponse } from "node:http";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client } from "pg";
import { Webhook as StandardWebhook } from "standardwebhooks";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { makeLog } from "../platform/log.ts";
import { startEmbeddedPostgres } from "../platform/postgres/embedded.ts";
import { makeCertificate, type Certificate } from "../testing/certificate.ts";
import { startMailServer, type MailServer } from "../testing/mail-server.ts";
import { startReceiver, type Receiver } from "../testing/receiver.ts";
import { buildService, serviceEnvironment, startServiceProcess, type ServiceProcess } from "../testing/service-process.ts";
import { SlackMessage } from "../testing/vendor-schemas.ts";

const KINDS = ["webhook", "slack", "mail"] as const;
type Kind = (typeof KINDS)[number];

/** When the process is killed: as a receiver has the whole request, as it has answered, or some ms after the pushes were sent. */
type Moment = { kind: Kind; at: "asked" | "answered" } | { afterMs: number };
const NASTY: Moment[] = KINDS.flatMap((kind) => [{ kind, at: "asked" } as const, { kind, at: "answered" } as const]);
const KILLS: Moment[] = [...NASTY, ...Array.from({ length: 4 }, () => ({ afterMs: Math.random() * 400 }))].sort(() => Math.random() - 0.5);

/** Few: a Slack message that sums up what waited names ten at most, and what is not named cannot be counted here. */
const INCIDENTS_PER_LIFE = 1;
/** One for each incident, and one life after the last kill. */
const SERVICES = Array.from({ length: (KILLS.length + 1) * INCIDENTS_PER_LIFE }, (_, number) => `Shop-${String(number).padStart(2, "0")}`);
const SUBSCRIBER = "ada@example.com";

/** One thing that a receiver got, in the how manieth life of the process. */
interface Receipt {
  service: string;
  /** What the receiver can know a repetition by; Slack gets nothing of the kind. */
  id: string | null;
  life: number;
}
const receipts: Record<Kind, Receipt[]> = { webhook: [], slack: [], mail: [] };
/** Of each life that ended by a kill, what was claimed and not recorded then. */
const inFlight: Record<Kind, ReadonlySet<string>>[] = [];

let folder: string;
let certificate: Certificate;
let hooks: Receiver;
let mail: MailServer;
let service: ServiceProcess;
let life = 0;
let moment: Moment | null = null;
let signingSecret = "";

beforeAll(async () => {
  await buildService();
  folder = await mkdtemp(join(tmpdir(), "pharos-push-"));
  certificate = makeCertificate();
  hooks = await startReceiver(certificate, (response, request) => void answer(response, request));
  mail = await startMailServer({
    async beforeTaken({ to, parsed }) {
      // What confirms the subscription tells of no incident.
      if (to !== SUBSCRIBER || !/Shop-/.test(parsed.subject ?? "")) return;
      receipts.mail.push({ service: serviceIn(parsed.subject!), id: parsed.messageId!, life });
      await killIf("mail", "asked");
      setImmediate(() => void killIf("mail", "answered"));
    },
  });
});
afterAll(async () => {
  // It still runs only when something failed.
  service?.child.kill("SIGTERM");
  await service?.exited;
  await hooks.stop();
  await mail.stop();
  certificate.remove();
  await rm(folder, { recursive: true, force: true });
});

const serviceIn = (text: string): string => /Shop-\d\d/.exec(text)![0];

async function answer(response: ServerResponse, { path, headers, body }: Receiver["received"][number]): Promise<void> {
  const kind: Kind = path === "/slack" ? "slack" : "webhook";
  if (kind === "webhook") {
    expect(headers["x-service-signature"]).toBe(createHmac("sha256", signingSecret).update(body).digest("hex"));
    new StandardWebhook(signingSecret).verify(body, headers as Record<string, string>);
    receipts.webhook.push({ service: serviceIn(body), id: headers["webhook-id"] as string, life });
  } else {
    SlackMessage.parse(JSON.parse(body));
    // One message may tell of several, when they waited for the vendor's pace.
    for (const name of new Set(body.match(/Shop-\d\d/g))) receipts.slack.push({ service: name, id: null, life });
  }
  await killIf(kind, "asked");
  response.end("ok", () => void killIf(kind, "answered"));
}

/** Resolves when the process is dead, so that what is answered then reaches nobody. */
async function killIf(kind: Kind, at: "asked" | "answered"): Promise<void> {
  if (!moment || !("kind" in moment) || moment.kind !== kind || moment.at !== at) return;
  moment = null;
  service.child.kill("SIGKILL");
  await service.exited;
}

async function call<Body>(method: string, path: string, apiKey: string, body?: unknown): Promise<Body> {
  const response = await fetch(`${service.base}/api/v1${path}`, { method, headers: { "X-API-Key": apiKey, "Content-Type": "application/json" }, ...(body !== undefined && { body: JSON.stringify(body) }) });
  expect(response.status).toBeLessThan(300);
  return (await response.json()) as Body;
}

async function subscribeAll(apiKey: string): Promise<Map<string, string>> {
  const webhook = await call<{ signing_secret: string }>("POST", "/webhooks", apiKey, { name: "Hook", url: `${hooks.url}/hook`, events: ["incident.created"] });
  signingSecret = webhook.signing_secret;
  await call("POST", "/notifications/channels", apiKey, { type: "slack", name: "On call", config: { webhook_url: `${hooks.url}/slack` } });
  const asked = await fetch(`${service.base}/pages/demo/subscribers`, { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify({ email: SUBSCRIBER }) });
  expect(asked.status).toBe(202);
  await vi.waitFor(() => expect(mail.mailsTo(SUBSCRIBER)).toHaveLength(1), { timeout: 20_000 });
  const link = new URL(/http:\S+token=\S+/.exec(mail.mailsTo(SUBSCRIBER)[0]!.parsed.text!)![0]);
  expect((await fetch(`${service.base}${link.pathname}${link.search}`, { method: "POST" })).status).toBe(200);
  const ids = new Map<string, string>();
  for (const name of SERVICES) ids.set(name, (await call<{ id: string }>("POST", "/services", apiKey, { name, thresholds: { create_incident: true } })).id);
  const { pages } = await call<{ pages: { id: string }[] }>("GET", "/status-pages", apiKey);
  await call("PUT", `/status-pages/${pages[0]!.id}/services`, apiKey, { service_ids: [...ids.values()] });
  return ids;
}

/** Over a threshold, at the edge. False when no answer came: then it is to be sent again. */
async function push(apiKey: string, serviceId: string): Promise<boolean> {
  try {
    const response = await fetch(`${service.edge}/api/metrics/ingest`, { method: "POST", headers: { "X-API-Key": apiKey, "Content-Type": "application/json" }, body: JSON.stringify({ service_id: serviceId, metrics: { error_rate: 12 } }) });
    expect(response.status).toBe(200);
    await response.json();
    return true;
  } catch (error) {
    if (error instanceof TypeError) return false;
    throw error;
  }
}

/** What was claimed and not recorded when the process died, by the database that it left behind. */
async function readInFlight(database: Client): Promise<Record<Kind, ReadonlySet<string>>> {
  const titles = async (query: string) => new Set((await database.query<{ title: string }>(query)).rows.map(({ title }) => serviceIn(title)));
  const ofEvents = "events.type = 'incident.created' and events.data->>'title' ~ 'Shop-'";
  return {
    webhook: await titles(`select data->>'title' as title from events join webhook_deliveries as due on due.event_id = events.id where due.status = 'pending' and due.lease_token is not null and ${ofEvents}`),
    slack: await titles(`select data->>'title' as title from events join notifications as due on due.event_id = events.id join channels on channels.id = due.channel_id where due.status = 'pending' and channels.lease_token is not null and ${ofEvents}`),
    mail: await titles(`select data->>'title' as title from events join mails as due on due.event_id = events.id where due.status = 'pending' and due.lease_token is not null and ${ofEvents}`),
  };
}

/** Between a kill and the next start: notes what was in flight, and ends its claims, which would last for up to four minutes. */
async function afterKill(): Promise<void> {
  // The server that the killed process left behind is shutting down, so it is ended and recovers.
  const server = await startEmbeddedPostgres({ folder: join(folder, "postgres"), log: makeLog("silent") });
  const database = new Client({ connectionString: server.url });
  await database.connect();
  inFlight.push(await readInFlight(database));
  for (const table of ["webhook_deliveries", "mails"]) await database.query(`update ${table} set due_at = now() where lease_token is not null and status = 'pending'`);
  for (const table of ["channels", "announcements"]) await database.query(`update ${table} set due_at = now() where lease_token is not null`);
  await database.end();
  await server.stop();
}

async function startAgain(environment: NodeJS.ProcessEnv): Promise<void> {
  await service.exited;
  await afterKill();
  life++;
  service = await startServiceProcess(environment);
}

/** A second time only when the process died between the receiver's answer and the record; always by the same id. */
function judge(kind: Kind, name: string): number {
  const got = receipts[kind].filter((receipt) => receipt.service === name);
  expect(got.length, `${kind} of ${name}`).toBeGreaterThanOrEqual(1);
  expect(new Set(got.map(({ id }) => id)).size, `ids of ${kind} of ${name}`).toBe(1);
  for (const [n, receipt] of got.slice(1).entries()) {
    const before = got[n]!;
    expect(receipt.life, `${kind} of ${name} came twice in one life`).toBeGreaterThan(before.life);
    expect(inFlight[before.life]![kind], `${kind} of ${name} was repeated after it was recorded`).toContain(name);
  }
  return got.length - 1;
}

test(
  "a push over a threshold ends as a webhook, a Slack message and a mail, and a kill at any moment loses none and doubles only what was in flight",
  async () => {
    const environment = serviceEnvironment(folder, {
      OUTBOUND_ALLOW: "127.0.0.0/8,::1/128", OUTBOUND_CA_FILE: certificate.file, WEBHOOK_TIMEOUT_MS: "5000", SCHEDULER_TICK_MS: "200",
      SMTP_URL: `smtp://127.0.0.1:${mail.port}`, MAIL_FROM: "status@acme.example",
    });
    service = await startServiceProcess(environment);
    const apiKey = /psk_\w{40}/.exec(service.output())![0];
    const ids = await subscribeAll(apiKey);

    const unpushed = new Set<string>();
    const pushAll = async (names: Iterable<string>): Promise<void> => void (await Promise.all([...names].map(async (name) => (await push(apiKey, ids.get(name)!)) ? unpushed.delete(name) : unpushed.add(name))));
    const ofLife = () => [...unpushed, ...SERVICES.slice(life * INCIDENTS_PER_LIFE, (life + 1) * INCIDENTS_PER_LIFE)];
    for (const next of KILLS) {
      moment = next;
      if ("afterMs" in next) setTimeout(() => service.child.kill("SIGKILL"), next.afterMs);
      await pushAll(ofLife());
      await startAgain(environment);
    }
    moment = null;
    await pushAll(ofLife());
    expect(unpushed).toEqual(new Set());

    await vi.waitFor(() => {
      for (const kind of KINDS) expect(new Set(receipts[kind].map((receipt) => receipt.service)), kind).toEqual(new Set(SERVICES));
    }, { timeout: 60_000, interval: 100 });
    const { incidents } = await call<{ incidents: { title: string }[] }>("GET", "/incidents?limit=100", apiKey);
    expect(incidents.map(({ title }) => title).filter((title) => title.includes("Shop-")).map(serviceIn).toSorted()).toEqual(SERVICES);
    // A stop in good order sends what is in hand: no receipt is missed by the count.
    service.child.kill("SIGTERM");
    expect(await service.exited).toBe(0);
    const doubles = Object.fromEntries(KINDS.map((kind) => [kind, SERVICES.reduce((sum, name) => sum + judge(kind, name), 0)])) as Record<Kind, number>;
    // What was killed before its answer came a second time: otherwise nothing here would have been tried.
    for (const kind of KINDS) expect(doubles[kind], kind).toBeGreaterThanOrEqual(1);
  },
  150_000,
);
