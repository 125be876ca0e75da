import { and, eq } from "drizzle-orm";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { tellOwner } from "../../../domain/organizations/tell-owner.ts";
import { inTransaction } from "../../../platform/postgres/database.ts";
import { auditEntries, mails, organizations } from "../../../schemas/tables/all.ts";
import { DEFAULT_THRESHOLDS } from "../../../schemas/thresholds.ts";
import { startTestControlPlane, type TestControlPlane } from "../../../testing/control-plane.ts";

let plane: TestControlPlane;
beforeAll(async () => {
  plane = await startTestControlPlane();
});
afterAll(() => plane.stop());

const patch = (body: object) => plane.call("PATCH", "/config", body);

describe("the configuration", () => {
  it("changes what is given, keeps the rest and is audited", async () => {
    const before = (await plane.call("GET", "/config")).body.config as object;
    const { status, body } = await patch({ name: " Acme ", owner_email: "ops@example.com", timezone: "Europe/Berlin", language: "pt-BR", retention_days: 730 });
    expect(status).toBe(200);
    expect(body.config).toEqual({ ...before, name: "Acme", owner_email: "ops@example.com", owner_email_confirmed: false, timezone: "Europe/Berlin", language: "pt-BR", retention_days: 730 });
    expect((await patch({ owner_email: null })).body.config).toMatchObject({ owner_email: null, name: "Acme" });
    expect((await plane.call("GET", "/config")).body.config).toMatchObject({ owner_email: null, timezone: "Europe/Berlin", plan: "team" });
    const entries = await plane.database.select().from(auditEntries).where(and(eq(auditEntries.organizationId, plane.organization.organizationId), eq(auditEntries.action, "config.updated")));
    expect(entries.map(({ changedFields }) => changedFields).sort()).toEqual([["language", "name", "owner_email", "retention_days", "timezone"], ["owner_email"]]);
  });

  it("tells the owner's address nothing before its reader gave the code that was mailed there", async () => {
    const { database, organization: { organizationId } } = plane;
    const tell = () => inTransaction(database, (tx) => tellOwner(tx, { organizationId, subject: "A webhook was disabled", text: "It failed.", at: new Date() }));
    const mailed = async () => (await database.select({ to: mails.to, subject: mails.subject, text: mails.text }).from(mails).where(eq(mails.organizationId, organizationId)).orderBy(mails.createdAt, mails.id)).slice(before);
    const confirm = (code: string) => plane.call("POST", "/config/owner-email/confirm", { code });
    const send = () => plane.call("POST", "/config/owner-email/send-code");
    const before = await database.$count(mails, eq(mails.organizationId, organizationId));
    expect(await confirm("123456")).toMatchObject({ status: 409, body: { error: expect.stringContaining("no address") } });
    await patch({ owner_email: "ada@example.com", name: "Buy at evil.example" });
    await tell();
    const [mail, ...more] = await mailed();
    expect(more).toEqual([]);
    expect(mail).toMatchObject({ to: "ada@example.com", text: expect.stringMatching(/Your code is \d{6}/) });
    expect(JSON.stringify(mail)).not.toContain("evil");
    const code = /\d{6}/.exec(mail!.text!)![0];
    expect(await confirm(code === "000000" ? "000001" : "000000")).toMatchObject({ status: 400, body: { path: "/code" } });
    expect(await send()).toMatchObject({ status: 429, headers: { "retry-after": expect.any(String) } });
    expect(await confirm(code)).toMatchObject({ status: 200, body: { config: { owner_email_confirmed: true } } });
    expect(await confirm(code)).toMatchObject({ status: 409 });
    expect(await send()).toMatchObject({ status: 409 });
    await tell();
    expect((await mailed()).slice(1)).toEqual([{ to: "ada@example.com", subject: "A webhook was disabled", text: "It failed." }]);
    // The same address stays confirmed; another one is asked anew, ten times a day at most.
    expect((await patch({ owner_email: "ada@example.com" })).body.config).toMatchObject({ owner_email_confirmed: true });
    const answers = [];
    for (let n = 0; n < 12; n++) answers.push((await patch({ owner_email: `stranger${n}@example.com` })).status);
    expect(answers.filter((status) => status === 200).length).toBeLessThan(10);
    expect(answers.at(-1)).toBe(429);
    expect((await plane.call("GET", "/config")).body.config).toMatchObject({ owner_email_confirmed: false });
    expect((await patch({ owner_email: null, name: "Acme" })).status).toBe(200);
  });

  it("merges default thresholds, which services without their own then have", async () => {
    const { body } = await patch({ default_thresholds: { metrics: { queue_depth: { degraded: 10 } }, breaches_to_worsen: 3 } });
    const merged = { ...DEFAULT_THRESHOLDS, breaches_to_worsen: 3, metrics: { ...DEFAULT_THRESHOLDS.metrics, queue_depth: { degraded: 10 } } };
    expect(body.config).toMatchObject({ default_thresholds: merged });
    expect((await plane.call("GET", `/services/${plane.organization.serviceId}`)).body.thresholds).toEqual(merged);
    expect((await patch({ default_thresholds: null })).body.config).toMatchObject({ default_thresholds: null });
  });

  it("takes thresholds of a hundred metrics, for services as for all of them", async () => {
    const metrics = (from: number, to: number) => Object.fromEntries(Array.from({ length: to - from }, (_, n) => [`m${from + n}`, { degraded: 1 }]));
    const service = `/services/${plane.organization.serviceId}`;
    const begun = Object.keys(DEFAULT_THRESHOLDS.metrics).length;
    for (const [path, field] of [["/config", "default_thresholds"], [service, "thresholds"]] as const) {
      expect((await plane.call("PATCH", path, { [field]: { metrics: metrics(0, 100 - begun) } })).status).toBe(200);
      const refused = await plane.call("PATCH", path, { [field]: { metrics: metrics(100 - begun, 101 - begun) } });
      expect(refused).toMatchObject({ status: 400, body: { code: "INVALID_REQUEST", path: `/${field}/metrics`, error: "With this there would be thresholds of 101 metrics; at most 100 can have some." } });
      const many = await plane.call("PATCH", path, { [field]: { metrics: metrics(0, 40_000) } });
      expect(many).toMatchObject({ status: 400, body: { path: `/${field}/metrics`, error: `${field}.metrics must hold at most 100 entries.` } });
      expect((await plane.call("PATCH", path, { [field]: { metrics: { m0: null } } })).status).toBe(200);
    }
    expect(await plane.call("POST", "/services", { name: "Many", thresholds: { metrics: metrics(100, 103) } })).toMatchObject({ status: 400, body: { path: "/thresholds/metrics" } });
    await plane.call("PATCH", service, { thresholds: null });
    await patch({ default_thresholds: null });
  });

  it.each<[string, object, string]>([
    ["another plan", { plan: "free" }, "/plan"],
    ["the same plan", { plan: "team" }, "/plan"],
    ["a time zone that is none", { timezone: "Europe/Atlantis" }, "/timezone"],
    ["an offset as a time zone", { timezone: "+01:00" }, "/timezone"],
    ["SQL as a time zone", { timezone: "UTC'; drop table services" }, "/timezone"],
    ["an address that is none", { owner_email: "ops" }, "/owner_email"],
    ["a language that is not shipped", { language: "tlh" }, "/language"],
    ["no retention", { retention_days: 0 }, "/retention_days"],
    ["retention without end", { retention_days: 731 }, "/retention_days"],
    ["an empty name", { name: " " }, "/name"],
    ["an unknown field", { retention: 5 }, "/retention"],
  ])("refuses %s", async (_, body, path) => {
    expect(await patch(body)).toMatchObject({ status: 400, body: { code: "INVALID_REQUEST", path, error: expect.any(String) } });
  });

  it.each([
    ["free", 31, "pro", 30],
    ["free", 181, "team", 30],
    ["pro", 181, "team", 180],
  ] as const)("refuses a retention that the %s plan does not have: %i days", async (plan, days, needed, most) => {
    const { organizationId } = plane.organization;
    await plane.database.update(organizations).set({ plan, retentionDays: 700 }).where(eq(organizations.id, organizationId));
    try {
      expect(await patch({ retention_days: days })).toMatchObject({ status: 403, body: { code: "PLAN_RESTRICTED", path: "/retention_days", error: expect.stringContaining(`the ${needed} plan`), fix: expect.stringContaining(`at most ${most}`) } });
      // What was chosen on a larger plan is shown as it is carried out.
      expect((await plane.call("GET", "/config")).body.config).toMatchObject({ retention_days: most });
      expect((await patch({ retention_days: most })).body.config).toMatchObject({ retention_days: most });
    } finally {
      await plane.database.update(organizations).set({ plan: "team" }).where(eq(organizations.id, organizationId));
    }
  });

  it("says what to do about the plan, and needs its scope", async () => {
    expect((await patch({ plan: "pro", name: "x" })).body.fix).toContain("Leave plan out");
    const { body } = await plane.call("POST", "/api-keys", { name: "reader", scopes: ["config:read"] });
    const refused = await plane.call("PATCH", "/config", { name: "x" }, { "x-api-key": body.key as string });
    expect(refused).toMatchObject({ status: 403, body: { error: "Insufficient scope: config:write required" } });
  });
});
