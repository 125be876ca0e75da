import { afterAll, beforeAll, expect, it } from "vitest";
import { fanOut } from "../../../domain/events/fan-out.ts";
import { makeNotifications } from "../../../processors/notifications/notify.ts";
import { systemClock } from "../../../platform/clock.ts";
import { makeLog } from "../../../platform/log.ts";
import { makeOutbound } from "../../../platform/outbound/outbound.ts";
import { listenTo } from "../../../platform/postgres/listen.ts";
import { readConfig, type Config } from "../../../platform/config.ts";
import { makeCertificate } from "../../../testing/certificate.ts";
import { startTestControlPlane, type TestControlPlane } from "../../../testing/control-plane.ts";
import { startReceiver, type Receiver } from "../../../testing/receiver.ts";

const PATH = "/notifications/channels";
const settings = { OUTBOUND_ALLOW: "127.0.0.0/8", SCHEDULER_TICK_MS: "60000" };
const log = makeLog("silent");

let plane: TestControlPlane;
let receiver: Receiver;
let code = 200;
const stops: (() => Promise<void> | void)[] = [];

beforeAll(async () => {
  plane = await startTestControlPlane({ settings });
  const certificate = makeCertificate();
  receiver = await startReceiver(certificate, (response) => response.writeHead(code).end(code === 200 ? "ok" : "no_service of very-private-hook"));
  const { config } = readConfig(settings) as { config: Config };
  const outbound = makeOutbound({ config: { OUTBOUND_ALLOW: config.OUTBOUND_ALLOW, OUTBOUND_PORTS: [], OUTBOUND_CA_FILE: certificate.file } });
  const notifying = makeNotifications({ database: plane.database, outbound, clock: systemClock, config, log });
  // As a scheduler of another process: announcements alone wake it.
  const listening = listenTo({ connectionString: String(plane.database.$client.options.connectionString), channel: "pharos_events", onNotify: () => notifying.wake(), log });
  notifying.start();
  stops.push(() => plane.stop(), () => certificate.remove(), () => outbound.close(), () => receiver.stop(), () => notifying.stop(), () => listening.stop());
});
afterAll(async () => {
  for (const stop of stops.toReversed()) await stop();
});

it("a test answers with what the vendor said, and the history keeps it without secrets", async () => {
  const { body } = await plane.call("POST", PATH, { type: "slack", name: "On call", config: { webhook_url: `${receiver.url}/services/very-private-hook` } });
  const path = `${PATH}/${body.id as string}`;
  const good = await plane.call("POST", `${path}/test`);
  expect(good).toMatchObject({ status: 200, body: { success: true, notification: { channel_id: body.id, trigger: "test", status: "delivered", attempts: 1, response_status_code: 200, response_body: "ok", error: null, event: null, coalesced_into: null } } });
  expect(JSON.parse(receiver.received[0]!.body)).toMatchObject({ blocks: [{ text: { text: "Test notification" } }] });

  code = 404;
  const bad = await plane.call("POST", `${path}/test`);
  expect(bad.body).toMatchObject({ success: false, notification: { status: "failed", response_status_code: 404, response_body: "no_service of …", error: expect.stringContaining("add a new one in Slack") as string } });

  await plane.call("PATCH", path, { enabled: false });
  const { body: history } = await plane.call("GET", `${path}/deliveries?limit=1`);
  expect(history).toEqual({ notifications: [bad.body.notification], total: 2 });
  expect((await plane.call("GET", `${path}/deliveries?limit=1&offset=1`)).body).toEqual({ notifications: [good.body.notification], total: 2 });
  expect(JSON.stringify([good.body, bad.body, history])).not.toContain("very-private");
  expect((await plane.call("DELETE", path)).status).toBe(200);
  expect((await plane.call("GET", `${path}/deliveries`)).status).toBe(404);
});

it("what happened is told and stands in the history with its event", async () => {
  code = 200;
  const { body } = await plane.call("POST", PATH, { type: "webhook", name: "Own", config: { url: receiver.url } });
  await plane.call("POST", "/incidents", { title: "Slow", services: [] });
  // Another process fans out; here nobody does.
  await fanOut(plane.database, new Date());
  const history = () => plane.call("GET", `${PATH}/${body.id as string}/deliveries`);
  await expect.poll(async () => (await history()).body).toMatchObject({ total: 1, notifications: [{ trigger: "event", event: "incident.created", message: null, status: "delivered", next_attempt_at: null }] });
});

it("needs the scopes of channels", async () => {
  const { body } = await plane.call("POST", "/api-keys", { name: "Reader", scopes: ["notifications:read"] });
  const { body: channel } = await plane.call("POST", PATH, { type: "webhook", name: "Own", config: { url: receiver.url } });
  const headers = { "x-api-key": body.key as string };
  expect((await plane.call("GET", `${PATH}/${channel.id as string}/deliveries`, undefined, headers)).status).toBe(200);
  expect((await plane.call("POST", `${PATH}/${channel.id as string}/test`, undefined, headers)).body).toMatchObject({ code: "INSUFFICIENT_SCOPE", error: "Insufficient scope: notifications:write required" });
});
