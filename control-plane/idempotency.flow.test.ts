import { sql } from "drizzle-orm";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { Failure } from "../platform/failures.ts";
import { newId } from "../platform/ids.ts";
import { idempotencyKeys } from "../schemas/tables/all.ts";
import { startTestControlPlane, type Answer, type TestControlPlane } from "../testing/control-plane.ts";
import { createService } from "../domain/services/create.ts";
import { route } from "./route.ts";
import { ALL_ROUTES } from "./routes/all.ts";

/** What the route `/steered` does; each test sets it. */
let steer: () => Promise<void> = async () => undefined;

/** Makes a service, then does what the test says. */
const steered = route({
  method: "POST",
  path: "/steered",
  scope: "services:write",
  tag: "Test",
  summary: "Makes a service and meets a fate",
  body: z.strictObject({ name: z.string() }),
  response: z.object({ id: z.string() }),
  status: 201,
  failures: ["CONFLICT", "PLAN_LIMIT"],
  async handle({ body, actor, needs }) {
    const { id } = await createService(needs.database, actor, { ...body, description: "", status: "operational", display_order: 0 }, new Date(needs.clock.now()));
    await steer();
    return { id };
  },
});

/** Does what the test says, and nothing else. */
const slow = route({
  method: "POST",
  path: "/slow",
  scope: "services:write",
  tag: "Test",
  summary: "Takes as long as it is told to",
  body: z.strictObject({ name: z.string() }),
  response: z.object({ name: z.string() }),
  status: 201,
  failures: ["CONFLICT"],
  async handle({ body }) {
    await steer();
    return body;
  },
});

/** Answers with as many bytes as it is asked for. */
const large = route({
  method: "POST",
  path: "/large",
  scope: "services:write",
  tag: "Test",
  summary: "Makes a service and answers at length",
  body: z.strictObject({ name: z.string(), bytes: z.int() }),
  response: z.object({ text: z.string() }),
  status: 201,
  failures: ["CONFLICT"],
  async handle({ body: { name, bytes }, actor, needs }) {
    await createService(needs.database, actor, { name, description: "", status: "operational", display_order: 0 }, new Date(needs.clock.now()));
    return { text: "x".repeat(bytes) };
  },
});

let now = Date.now();
let plane: TestControlPlane;
beforeAll(async () => {
  plane = await startTestControlPlane({ routes: [...ALL_ROUTES, steered, slow, large], clock: { now: () => now, monotonic: () => performance.now() } });
});
afterAll(() => plane.stop());

const post = (key: string, body: unknown, path = "/services", headers: Record<string, string> = {}) => plane.call("POST", path, body, { "idempotency-key": key, ...headers });

async function servicesNamed(name: string): Promise<number> {
  const { rows } = await plane.database.execute(sql`select 1 from services where name = ${name}`);
  return rows.length;
}

describe("a POST with an Idempotency-Key", () => {
  it("is done once and answered alike again, however the body is written", async () => {
    const key = newId();
    const first = await post(key, { name: "Once", description: "" });
    expect(first.status).toBe(201);
    expect(first.headers["idempotency-replayed"]).toBeUndefined();
    const again = await post(key, { description: "", name: "Once" });
    expect({ status: again.status, body: again.body }).toEqual({ status: 201, body: first.body });
    expect(again.headers["idempotency-replayed"]).toBe("true");
    expect(again.headers["content-type"]).toBe("application/json; charset=utf-8");
    expect(await servicesNamed("Once")).toBe(1);
  });

  it("whose answer is too large to be kept is done once, and says so", async () => {
    const [key, other] = [newId(), newId()];
    const fits = { name: "Fits", bytes: 256 * 1024 - 100 };
    expect((await post(other, fits, "/large")).status).toBe(201);
    expect(await post(other, fits, "/large")).toMatchObject({ status: 201, body: { text: "x".repeat(fits.bytes) } });
    const body = { name: "Large", bytes: 256 * 1024 };
    expect(await post(key, body, "/large")).toMatchObject({ status: 201, body: { text: "x".repeat(body.bytes) } });
    const again = await post(key, body, "/large");
    expect(again).toMatchObject({ status: 409, body: { code: "CONFLICT", error: "This was done already and answered with 201; the answer was larger than 256 KiB and was not kept." } });
    expect(again.headers["idempotency-replayed"]).toBe("true");
    expect(await servicesNamed("Large")).toBe(1);
  });

  it("with another body or address is 409 IDEMPOTENCY_MISMATCH", async () => {
    const key = newId();
    await post(key, { name: "Mine" });
    for (const answer of [await post(key, { name: "Other" }), await post(key, { name: "Mine" }, "/steered")]) {
      expect(answer.status).toBe(409);
      expect(answer.body).toMatchObject({ code: "IDEMPOTENCY_MISMATCH", fix: expect.stringMatching(/new key/) as string });
    }
  });

  it("of many first ones at once runs one", async () => {
    const key = newId();
    const answers = await Promise.all(Array.from({ length: 20 }, () => post(key, { name: "Crowd" })));
    const made = answers.filter(({ status }) => status === 201);
    expect(made.length).toBeGreaterThanOrEqual(1);
    expect(new Set(made.map(({ body }) => body.id)).size).toBe(1);
    for (const { status, headers, body } of answers.filter(({ status }) => status !== 201)) {
      expect({ status, code: body.code, wait: headers["retry-after"] }).toEqual({ status: 409, code: "CONFLICT", wait: "2" });
    }
    expect(await servicesNamed("Crowd")).toBe(1);
  });

  it("while the first is in flight is 409 CONFLICT with Retry-After, and then gets its answer", async () => {
    const key = newId();
    let finish!: () => void;
    const finished = new Promise<void>((resolve) => (finish = resolve));
    let reached!: () => void;
    const inside = new Promise<void>((resolve) => (reached = resolve));
    steer = async () => (reached(), finished);
    const first = post(key, { name: "Slow" }, "/steered");
    await inside;
    const second = await post(key, { name: "Slow" }, "/steered");
    expect({ status: second.status, code: second.body.code, wait: second.headers["retry-after"] }).toEqual({ status: 409, code: "CONFLICT", wait: "2" });
    finish();
    const { body } = await first;
    expect((await post(key, { name: "Slow" }, "/steered")).body).toEqual(body);
  });

  it("belongs to its API key: another's same text is another", async () => {
    const key = newId();
    const other = await plane.createOrganization("team");
    const mine = await post(key, { name: "Shared text" });
    const theirs = await post(key, { name: "Theirs" }, "/services", { "x-api-key": other.apiKey });
    expect(theirs.status).toBe(201);
    expect(theirs.body.id).not.toBe(mine.body.id);
  });

  it("keeps nothing of another method", async () => {
    const { body } = await post(newId(), { name: "Patched" });
    const key = newId();
    for (const name of ["A", "B"]) expect((await plane.call("PATCH", `/services/${String(body.id)}`, { name }, { "idempotency-key": key })).body.name).toBe(name);
  });

  it.each(["", "a".repeat(256), "a\tb", "ü"])("of the form %j is 400", async (key) => {
    const answer = await post(key, { name: "Bad key" });
    expect({ status: answer.status, code: answer.body.code }).toEqual({ status: 400, code: "INVALID_REQUEST" });
    expect(await servicesNamed("Bad key")).toBe(0);
  });

  it("works without a body too", async () => {
    const { body } = await plane.call("POST", "/webhooks", { name: "Hook", url: "https://example.com/", events: ["incident.created"] });
    const { id } = body.webhook as { id: string };
    const key = newId();
    const rotate = () => plane.call("POST", `/webhooks/${id}/rotate-secret`, undefined, { "idempotency-key": key });
    const first = await rotate();
    expect(first.status).toBe(200);
    expect((await rotate()).body).toEqual(first.body);
  });
});

describe("a refusal", () => {
  it("is kept like another answer, with its request id", async () => {
    const free = await plane.createOrganization("free");
    const key = newId();
    const ask = () => post(key, { name: "x" }, "/steered", { "x-api-key": free.apiKey });
    steer = async () => {
      throw new Failure("PLAN_LIMIT", "No room.");
    };
    const first = await ask();
    expect(first.status).toBe(403);
    steer = async () => undefined;
    const again = await ask();
    expect({ status: again.status, body: again.body, replayed: again.headers["idempotency-replayed"] }).toEqual({ status: 403, body: first.body, replayed: "true" });
  });

  it.each([
    { name: "an error of the service", failure: new Error("boom"), status: 500 },
    { name: "a store that is away", failure: new Failure("UNAVAILABLE", "Away.", { retryAfter: 5 }), status: 503 },
    { name: "a conflict that passes", failure: new Failure("CONFLICT", "Busy.", { retryAfter: 1 }), status: 409 },
  ])("by $name is not kept and leaves nothing behind", async ({ name, failure, status }) => {
    const key = newId();
    steer = async () => {
      throw failure;
    };
    expect((await post(key, { name }, "/steered")).status).toBe(status);
    expect(await servicesNamed(name)).toBe(0);
    steer = async () => undefined;
    expect((await post(key, { name }, "/steered")).status).toBe(201);
    expect(await servicesNamed(name)).toBe(1);
  });

  it("of the body is not kept: the key is free for the right one", async () => {
    const key = newId();
    expect((await post(key, { nmae: "Typo" })).status).toBe(400);
    expect((await post(key, { name: "Typo" })).status).toBe(201);
  });
});

describe("a call that was killed", () => {
  /** As a process leaves it that died in the middle: a claim without an answer. */
  async function abandon(key: string): Promise<Answer> {
    const first = await post(key, { name: `Before ${key}` });
    await plane.database.execute(sql`update ${idempotencyKeys} set status = null, body = null where key = ${key}`);
    return first;
  }

  it("holds its key until its lock ends, and then anybody's request takes it", async () => {
    const key = newId();
    await abandon(key);
    expect((await post(key, { name: `Before ${key}` })).body.code).toBe("CONFLICT");
    now += 60_001;
    expect((await post(key, { name: "After" })).status).toBe(201);
  });

  it.each([
    { name: "comes to its end after its key was taken over", fate: (key: string) => sql`update ${idempotencyKeys} set locked_until = locked_until + interval '1 second' where key = ${key}`, status: 409, code: "CONFLICT" },
    { name: "dies between its work and its answer", fate: () => sql`select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and state = 'idle in transaction'`, status: 503, code: "UNAVAILABLE" },
  ])("leaves nothing behind when it $name", async ({ name, fate, status, code }) => {
    const key = newId();
    steer = async () => void (await plane.database.execute(fate(key)));
    const cut = await post(key, { name }, "/steered");
    expect({ status: cut.status, code: cut.body.code }).toEqual({ status, code });
    expect(await servicesNamed(name)).toBe(0);
    steer = async () => undefined;
    now += 62_000;
    expect((await post(key, { name }, "/steered")).status).toBe(201);
    expect((await post(key, { name }, "/steered")).status).toBe(201);
    expect(await servicesNamed(name)).toBe(1);
  });
});

describe("what is kept", () => {
  it("is forgotten after 24 hours, and removed by later calls", async () => {
    const key = newId();
    await post(key, { name: "Yesterday" });
    now += 24 * 3_600_000 + 1;
    expect((await post(key, { name: "Today" })).status).toBe(201);
    for (let call = 0; call < 8; call++) await post(newId(), { name: "Sweep" });
    const { rows } = await plane.database.execute(sql`select 1 from ${idempotencyKeys} where organization_id = ${plane.organization.organizationId} and created_at < ${new Date(now - 24 * 3_600_000).toISOString()}`);
    expect(rows).toEqual([]);
  });

  it("shows no secret to who reads the database", async () => {
    const key = newId();
    const { body } = await post(key, { name: "Secret", scopes: ["services:read"] }, "/api-keys");
    expect((await post(key, { name: "Secret", scopes: ["services:read"] }, "/api-keys")).body).toEqual(body);
    const { rows } = await plane.database.execute(sql`select encode(request_hash, 'escape') as hash, body::text as body from ${idempotencyKeys} where key = ${key}`);
    expect(rows).toHaveLength(1);
    const stored = rows[0] as { hash: string; body: string };
    const decoded = Buffer.from((JSON.parse(stored.body) as { data: string }).data, "base64").toString("latin1");
    for (const text of [stored.body, stored.hash, decoded]) expect(text).not.toContain(String(body.key).slice(4, 20));
  });
});

it("many slow calls of one organization leave connections to others, and all are done", async () => {
  let begun = 0;
  let release!: () => void;
  const released = new Promise<void>((resolve) => (release = resolve));
  steer = () => (begun++, released);
  const others = await plane.createOrganization("team");
  const calls = Array.from({ length: 24 }, (_, n) => post(newId(), { name: `Slow ${n}` }, "/slow"));
  await expect.poll(() => begun).toBe(4);
  // Twice as many as there are connections wait meanwhile.
  expect((await plane.call("GET", "/incidents", undefined, { "x-api-key": others.apiKey })).status).toBe(200);
  expect(begun).toBe(4);
  release();
  expect((await Promise.all(calls)).map(({ status }) => status)).toEqual(calls.map(() => 201));
  steer = async () => undefined;
});
