import { eq } from "drizzle-orm";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { newId } from "../../../platform/ids.ts";
import { events, webhookDeliveries, webhooks } from "../../../schemas/tables/all.ts";
import { startTestControlPlane, type TestControlPlane } from "../../../testing/control-plane.ts";

const DAY = 86_400_000;

let plane: TestControlPlane;
let id: string;
beforeAll(async () => {
  plane = await startTestControlPlane();
});
afterAll(() => plane.stop());
beforeEach(async () => {
  await plane.database.delete(webhooks);
  const { body } = await plane.call("POST", "/webhooks", { name: "On call", url: "https://hooks.example.com/", events: ["monitor.down"], headers: { Authorization: "Bearer private" } });
  id = (body.webhook as { id: string }).id;
});

async function failed(createdAt: Date, status: "failed" | "delivered" = "failed"): Promise<void> {
  const { organizationId } = plane.organization;
  const eventId = newId();
  await plane.database.insert(events).values({ id: eventId, organizationId, type: "monitor.down", data: {}, createdAt, fannedOutAt: createdAt });
  await plane.database.insert(webhookDeliveries).values({ id: newId(), organizationId, webhookId: id, eventId, attempt: 1, trigger: "event", status, dueAt: createdAt, createdAt, url: "https://old.example.com/", requestHeaders: { authorization: "[masked]" } });
}
const hoursAgo = (hours: number) => new Date(Date.now() - hours * 3_600_000);

describe("a webhook (happy)", () => {
  it("shows how much arrived, and what was sent, by status and event", async () => {
    expect((await plane.call("GET", `/webhooks/${id}`)).body).toMatchObject({ webhook: { id, headers: { Authorization: "[masked]" } }, success_rate: null });
    await failed(hoursAgo(2));
    await failed(hoursAgo(1), "delivered");
    expect((await plane.call("GET", `/webhooks/${id}`)).body).toMatchObject({ success_rate: 50 });
    const { body } = await plane.call("GET", `/webhooks/${id}/deliveries?status=failed&event=monitor.down`);
    expect(body).toMatchObject({ total: 1, deliveries: [{ status: "failed", url: "https://old.example.com/", request_headers: { authorization: "[masked]" } }] });
  });

  it("gets a new secret, and the one before ends after a day or at once", async () => {
    const began = Date.now();
    const { status, body } = await plane.call("POST", `/webhooks/${id}/rotate-secret`);
    expect({ status, body }).toMatchObject({ status: 200, body: { webhook: { id }, signing_secret: expect.stringMatching(/^whsec_/) as string } });
    expect(Date.parse(body.previous_secret_expires_at as string) - began - DAY).toBeLessThan(60_000);
    expect((await plane.call("POST", `/webhooks/${id}/rotate-secret`, { expire_previous: true })).body).toMatchObject({ previous_secret_expires_at: null });
    expect((await plane.database.select().from(webhooks).where(eq(webhooks.id, id)))[0]).toMatchObject({ previousSecret: null });
  });

  it("delivers again what failed, once also when the request is repeated", async () => {
    for (const hours of [1, 2, 30]) await failed(hoursAgo(hours));
    const again = (headers = {}) => plane.call("POST", `/webhooks/${id}/redeliver-failed`, { since: hoursAgo(24).toISOString() }, headers);
    const body = { since: hoursAgo(24).toISOString() };
    const keyed = () => plane.call("POST", `/webhooks/${id}/redeliver-failed`, body, { "idempotency-key": "again" });
    expect(await keyed()).toMatchObject({ status: 202, body: { planned: 2, remaining: 0 } });
    expect(await keyed()).toMatchObject({ status: 202, body: { planned: 2, remaining: 0 } });
    expect(await again()).toMatchObject({ status: 202, body: { planned: 0, remaining: 0 } });
    expect((await plane.call("GET", `/webhooks/${id}/deliveries?status=pending`)).body).toMatchObject({ total: 2, deliveries: [{ trigger: "redeliver" }, { trigger: "redeliver" }] });
  });
});

describe("a webhook (refused)", () => {
  it.each([
    ["since too long ago", "redeliver-failed", { since: "2020-01-01T00:00:00Z" }, "/since"],
    ["since that is no time", "redeliver-failed", { since: "yesterday" }, "/since"],
    ["no since", "redeliver-failed", {}, "/since"],
    ["a word for yes", "rotate-secret", { expire_previous: "yes" }, "/expire_previous"],
  ])("%s", async (_, path, body, place) => expect(await plane.call("POST", `/webhooks/${id}/${path}`, body)).toMatchObject({ status: 400, body: { code: "INVALID_REQUEST", path: place } }));

  it("a secret header that would go to another origin", async () => {
    const answer = await plane.call("PATCH", `/webhooks/${id}`, { url: "https://evil.example.com/" });
    expect(answer).toMatchObject({ status: 400, body: { path: "/headers/Authorization", fix: expect.stringContaining("headers") as string } });
  });

  it("an unknown status or event", async () => {
    for (const query of ["status=lost", "event=monitor.sideways"]) expect((await plane.call("GET", `/webhooks/${id}/deliveries?${query}`)).status).toBe(400);
  });
});
