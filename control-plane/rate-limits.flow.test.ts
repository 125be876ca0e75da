import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { z } from "zod";
import type { CreatedOrganization } from "../domain/organizations/create.ts";
import type { Plan } from "../schemas/vocabulary.ts";
import { startTestControlPlane, type Answer, type TestControlPlane } from "../testing/control-plane.ts";
import { route } from "./route.ts";
import { ALL_ROUTES } from "./routes/all.ts";

const MINUTE = 60_000;

/** Needs nothing of the database, so that a thousand of it take no time. */
const quiet = route({ method: "GET", path: "/quiet", scope: "services:read", tag: "Test", summary: "Says nothing", response: z.object({}), handle: async () => ({}) });
const strict = route({ method: "POST", path: "/strict", scope: "services:write", tag: "Test", summary: "Refuses most", body: z.strictObject({ name: z.string() }), response: z.object({}), handle: async () => ({}) });

let now = 1_000 * MINUTE;
let plane: TestControlPlane;
beforeAll(async () => {
  // The figures of the specification, as they are without any setting.
  plane = await startTestControlPlane({
    routes: [quiet, strict],
    clock: { now: () => now, monotonic: () => performance.now() },
    settings: { RATE_LIMIT_STANDARD: "free:100,pro:1000,team:1000", RATE_LIMIT_ANONYMOUS: "300" },
  });
});
afterAll(() => plane.stop());

const ask = (organization: CreatedOrganization, path = "/quiet") => plane.call("GET", path, undefined, { "x-api-key": organization.apiKey });

function rateOf({ headers }: Answer): { limit: number; remaining: number; reset: number } {
  return { limit: Number(headers["x-ratelimit-limit"]), remaining: Number(headers["x-ratelimit-remaining"]), reset: Number(headers["x-ratelimit-reset"]) };
}

describe("the rate limit of a key", () => {
  it.each<{ plan: Plan; limit: number }>([
    { plan: "free", limit: 100 },
    { plan: "pro", limit: 1_000 },
    { plan: "team", limit: 1_000 },
  ])("on the $plan plan lets exactly $limit through, also all at once", async ({ plan, limit }) => {
    now += MINUTE;
    const organization = await plane.createOrganization(plan);
    const answers = await Promise.all(Array.from({ length: limit + 50 }, () => ask(organization)));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(limit);
    expect(answers.filter(({ status }) => status === 429)).toHaveLength(50);
    // Each that was let through saw another number.
    const left = new Set(answers.filter(({ status }) => status === 200).map((answer) => rateOf(answer).remaining));
    expect(left.size).toBe(limit);
  });

  it("begins anew with the minute, to the millisecond", async () => {
    now = Math.ceil(now / MINUTE) * MINUTE + 45_500;
    const organization = await plane.createOrganization("free");
    for (let request = 0; request < 100; request++) expect((await ask(organization)).status).toBe(200);
    const refused = await ask(organization);
    expect(refused.status).toBe(429);
    expect(refused.body).toMatchObject({ code: "RATE_LIMITED", fix: expect.stringContaining("15 s") as string });
    expect(refused.headers["retry-after"]).toBe("15");
    const { reset } = rateOf(refused);
    expect(reset * 1_000 - now).toBe(14_500);

    now = reset * 1_000 - 1;
    expect((await ask(organization)).headers["retry-after"]).toBe("1");
    now = reset * 1_000;
    const fresh = await ask(organization);
    expect({ status: fresh.status, ...rateOf(fresh) }).toEqual({ status: 200, limit: 100, remaining: 99, reset: reset + 60 });
  });

  it("is the key's own: another of the same organization has its own", async () => {
    now += MINUTE;
    await ask(plane.organization);
    const { remaining } = rateOf(await ask(plane.organization));
    expect(remaining).toBe(998);
    expect(rateOf(await ask(await plane.createOrganization("team"))).remaining).toBe(999);
  });
});

describe("the rate limit of an organization", () => {
  it("is five times that of one key, whichever keys are used; the headers show the tighter of both", async () => {
    const small = await startTestControlPlane({ routes: [...ALL_ROUTES, quiet], clock: { now: () => now, monotonic: () => performance.now() }, settings: { RATE_LIMIT_STANDARD: "free:10,pro:10,team:10" } });
    onTestFinished(() => small.stop());
    now += MINUTE;
    const keys: string[] = [];
    for (let key = 0; key < 7; key++) keys.push((await small.call("POST", "/api-keys", { name: `Key ${key}`, scopes: ["services:read"] })).body.key as string);
    now += MINUTE;
    const ask = (key: number) => small.call("GET", "/quiet", undefined, { "x-api-key": keys[key]! });
    const first = await ask(0);
    expect(rateOf(first)).toMatchObject({ limit: 10, remaining: 9 });
    for (let key = 1; key < 5; key++) expect(new Set((await Promise.all(Array.from({ length: 10 }, () => ask(key)))).map(({ status }) => status))).toEqual(new Set([200]));
    expect(rateOf(await ask(5))).toMatchObject({ limit: 50, remaining: 8 });
    const answers = await Promise.all(Array.from({ length: 10 }, () => ask(6)));
    expect(answers.map(({ status }) => status).toSorted()).toEqual([...Array.from({ length: 8 }, () => 200), 429, 429]);
    const refused = answers.find(({ status }) => status === 429)!;
    expect(rateOf(refused)).toMatchObject({ limit: 50, remaining: 0 });
    expect(refused.body).toMatchObject({ code: "RATE_LIMITED", error: expect.stringContaining("all keys of this organization") as string });
    now += MINUTE;
    expect(rateOf(await ask(6))).toMatchObject({ limit: 10, remaining: 9 });
  });
});

describe("the rate headers", () => {
  const UNKNOWN = { "x-api-key": "psk_unknown" };

  it.each<{ name: string; status: number; ask: () => Promise<Answer> }>([
    { name: "a success", status: 200, ask: () => plane.call("GET", "/quiet") },
    { name: "a refused body", status: 400, ask: () => plane.call("POST", "/strict", { nmae: "x" }) },
    { name: "an unknown key", status: 401, ask: () => plane.call("GET", "/quiet", undefined, UNKNOWN) },
    { name: "an unknown key at an unknown address", status: 401, ask: () => plane.call("GET", "/nothing", undefined, UNKNOWN) },
    { name: "an unknown address", status: 404, ask: () => plane.call("GET", "/nothing") },
    { name: "another method", status: 405, ask: () => plane.call("DELETE", "/quiet") },
    { name: "an address that cannot be decoded", status: 400, ask: () => plane.call("GET", "/%zz") },
    { name: "another type of body", status: 415, ask: () => plane.call("POST", "/strict", "x", { "content-type": "text/plain" }) },
  ])("are on the answer to $name", async ({ status, ask }) => {
    now += MINUTE;
    const answer = await ask();
    expect(answer.status).toBe(status);
    const { limit, remaining, reset } = rateOf(answer);
    expect([300, 1_000]).toContain(limit);
    expect(remaining).toBe(limit - 1);
    expect(reset).toBe(Math.floor(now / MINUTE) * 60 + 60);
  });

  it("are on the answer to a conditional request, which is whole: the API keeps nothing for later, has no ETag and never answers 304", async () => {
    now += MINUTE;
    const answer = await plane.call("GET", "/quiet", undefined, { "if-none-match": "*", "if-modified-since": new Date(now).toUTCString() });
    expect(answer.status).toBe(200);
    expect(answer.headers).toMatchObject({ "cache-control": "no-store", "x-ratelimit-limit": "1000", "x-ratelimit-remaining": "999" });
    expect(answer.headers.etag).toBeUndefined();
    expect(answer.headers["last-modified"]).toBeUndefined();
  });

  it("are on 429 too, for a key and for who has none", async () => {
    now += MINUTE;
    const organization = await plane.createOrganization("free");
    const keyed = await Promise.all(Array.from({ length: 101 }, () => ask(organization)));
    const strangers = await Promise.all(Array.from({ length: 301 }, () => plane.call("GET", "/quiet", undefined, UNKNOWN)));
    for (const [answers, limit] of [[keyed, 100], [strangers, 300]] as const) {
      const refused = answers.filter(({ status }) => status === 429);
      expect(refused).toHaveLength(1);
      expect(rateOf(refused[0]!)).toMatchObject({ limit, remaining: 0 });
      expect(Number(refused[0]!.headers["retry-after"])).toBeGreaterThanOrEqual(1);
    }
    // Who has a key is not held up by strangers at the same address.
    expect((await ask(plane.organization)).status).toBe(200);
  });
});
