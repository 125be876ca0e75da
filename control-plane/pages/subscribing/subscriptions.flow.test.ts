import { eq } from "drizzle-orm";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { newId } from "../../../platform/ids.ts";
import { mails, subscribers } from "../../../schemas/tables/all.ts";
import { startTestControlPlane } from "../../../testing/control-plane.ts";
import { headerOf, linkOf, startSubscriptionBench, type SubscriptionBench } from "../../../testing/subscriptions.ts";

const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;

let bench: SubscriptionBench;
beforeAll(async () => {
  bench = await startSubscriptionBench();
});
afterAll(() => bench.stop());

const slug = () => bench.plane.organization.pageSlug;
const at = (path = "") => `/pages/${slug()}/subscribers${path}`;
const ask = (json: unknown, headers?: Record<string, string>) => bench.visit("POST", at(), { json }, headers);
const stateOf = async (address: string) => (await bench.plane.database.select().from(subscribers).where(eq(subscribers.address, address)))[0];
const queued = (address: string) => bench.plane.database.$count(mails, eq(mails.to, address));
const tokenOf = (url: string) => new URL(url).searchParams.get("token")!;

/** A page of its own, for what is counted by page. */
async function makePage(more: Record<string, unknown> = {}): Promise<{ id: string; slug: string }> {
  const { body } = await bench.plane.call("POST", "/status-pages", { name: `Page ${newId()}`, ...more });
  return body.page as { id: string; slug: string };
}

describe("subscribing", () => {
  it("is confirmed by the button behind the mailed link, not by the link", async () => {
    const answer = await ask({ email: "Ada@Example.COM" });
    expect({ status: answer.status, body: JSON.parse(answer.body) as unknown }).toEqual({ status: 202, body: { success: true, message: "If this address is not confirmed yet, a mail with a link is on its way." } });
    await expect.poll(() => bench.mail.mailsTo("Ada@example.com")).toHaveLength(1);
    const [mail] = bench.mail.mailsTo("Ada@example.com");
    expect(mail!.parsed.subject).toBe("Confirm your subscription to Test team");
    expect(headerOf(mail!, "auto-submitted")).toBe("auto-generated");
    const link = linkOf(mail!);
    expect(mail!.parsed.html).toContain(`href="${link}"`);
    for (let looks = 0; looks < 2; looks++) {
      const page = await bench.visit("GET", link);
      expect(page).toMatchObject({ status: 200, headers: { "cache-control": "no-store", "referrer-policy": "no-referrer" } });
      expect(page.body).toContain("Ada@example.com");
      expect(page.body).toMatch(new RegExp(`<form class="form" method="post" action="/pages/${slug()}/subscribers/confirm\\?token=${tokenOf(link)}"`));
    }
    expect(await stateOf("Ada@example.com")).toMatchObject({ state: "pending", confirmedAt: null });
    const confirmed = await bench.visit("POST", link, { form: "" });
    expect(confirmed.status).toBe(200);
    expect(confirmed.body).toContain("Ada@example.com is subscribed to Test team.");
    expect(await stateOf("Ada@example.com")).toMatchObject({ state: "active", confirmHash: null, services: [] });
    expect((await bench.visit("POST", link)).status).toBe(404);
  });

  it("is asked without a word of the page but its name, which says nowhere to go", async () => {
    const page = await makePage({ name: `Your account is locked, see https://evil.example/login or evil.example ${"and hurry ".repeat(12)}`.trim(), tagline: "Call us", announcement_text: "Pay here", announcement_enabled: true });
    expect((await bench.visit("POST", `/pages/${page.slug}/subscribers`, { json: { email: "victim@example.com" } })).status).toBe(202);
    await expect.poll(() => bench.mail.mailsTo("victim@example.com")).toHaveLength(1);
    const { subject, text, html } = bench.mail.mailsTo("victim@example.com")[0]!.parsed;
    const name = "Your account is locked, see or and hurry and hurry and hurry";
    expect(subject).toBe(`Confirm your subscription to ${name}`);
    for (const part of [text, html]) {
      expect(part).toContain(`This mail comes from Pharos, on behalf of the status page ${name}.`);
      expect(part).toContain("If it was not you, ignore this mail");
      expect(part).not.toMatch(/evil|Call us|Pay here/);
      for (const [address] of String(part).matchAll(/https?:[^\s"<]+/g)) expect(address).toMatch(new RegExp(`^https://status\\.example\\.com/pages/${page.id}/subscribers/confirm\\?token=`));
    }
  });

  it("is asked by the page's id when nothing else is left of its name", async () => {
    const page = await makePage({ name: "status.acme.example" });
    await bench.subscribe(page.slug, "nameless@example.com");
    expect(bench.mail.mailsTo("nameless@example.com")[0]!.parsed.subject).toBe(`Confirm your subscription to ${page.id.slice(0, 8)}`);
  });

  it("keeps no token that a reader of the database could use", async () => {
    await ask({ email: "hash@example.com" });
    await expect.poll(() => bench.mail.mailsTo("hash@example.com")).toHaveLength(1);
    const token = tokenOf(linkOf(bench.mail.mailsTo("hash@example.com")[0]!));
    await expect.poll(async () => (await bench.plane.database.select().from(mails).where(eq(mails.to, "hash@example.com")))[0]?.status).toBe("sent");
    const stored = JSON.stringify([await stateOf("hash@example.com"), await bench.plane.database.select().from(mails).where(eq(mails.to, "hash@example.com"))]);
    expect(stored).not.toContain(token);
  });

  it("ends with its day, and an older link ends with a newer one", async () => {
    await ask({ email: "late@example.com" });
    await expect.poll(() => bench.mail.mailsTo("late@example.com")).toHaveLength(1);
    await bench.pass(11 * MINUTE);
    await ask({ email: "late@example.com" });
    await expect.poll(() => bench.mail.mailsTo("late@example.com")).toHaveLength(2);
    const [older, newer] = bench.mail.mailsTo("late@example.com").map(linkOf);
    expect((await bench.visit("POST", older!)).status).toBe(404);
    await bench.pass(DAY);
    expect((await bench.visit("GET", newer!)).body).toContain("This link was used already or has expired.");
    expect((await bench.visit("POST", newer!)).status).toBe(404);
    expect((await stateOf("late@example.com"))!.state).toBe("pending");
  });

  it("answers alike whatever is known of an address, and does the same", async () => {
    await bench.subscribe(slug(), "known@example.com");
    await bench.pass(11 * MINUTE);
    const before = await queued("known@example.com");
    const answers = [await ask({ email: "known@example.com" }), await ask({ email: "known@example.com" }), await ask({ email: "stranger@example.com" }), await ask({ email: "stranger@example.com" })];
    for (const { status, body, headers } of answers) {
      const { "x-request-id": _id, date: _date, ...rest } = headers;
      const { "x-request-id": _first, date: _then, ...first } = answers[0]!.headers;
      expect({ status, body, headers: rest }).toEqual({ status: answers[0]!.status, body: answers[0]!.body, headers: first });
    }
    // One each: the confirmed address is asked like the other.
    expect((await queued("known@example.com")) - before).toBe(1);
    expect(await queued("stranger@example.com")).toBe(1);
    expect((await stateOf("known@example.com"))!.state).toBe("active");
  });

  it("with other services changes them when it is confirmed, not before", async () => {
    const { body: extra } = await bench.plane.call("POST", "/services", { name: "Extra" });
    await bench.plane.call("PUT", `/status-pages/${bench.plane.organization.pageId}/services`, { service_ids: [bench.plane.organization.serviceId, extra.id] });
    await bench.subscribe(slug(), "choosy@example.com", ["Website"]);
    expect((await stateOf("choosy@example.com"))!.services).toEqual([bench.plane.organization.serviceId]);
    await bench.pass(11 * MINUTE);
    await ask({ email: "choosy@example.com", services: [extra.id as string] });
    await expect.poll(() => bench.mail.mailsTo("choosy@example.com")).toHaveLength(2);
    expect((await stateOf("choosy@example.com"))!.services).toEqual([bench.plane.organization.serviceId]);
    await bench.pass(11 * MINUTE);
    await bench.subscribe(slug(), "choosy@example.com", ["Extra"]);
    expect((await stateOf("choosy@example.com"))!.services).toEqual([extra.id]);
  });

  it.each([
    { body: {}, error: /email or webhook_url/ },
    { body: { email: "a@example.com", webhook_url: "https://example.com" }, error: /email or webhook_url/ },
    { body: { email: "nonsense" }, path: "/email" },
    { body: { email: "a@example.com\r\nBcc: b@example.com" }, path: "/email" },
    { body: { email: "a@example.com", services: ["Secret"] }, path: "/services/0" },
    { body: { email: "a@example.com", extra: 1 }, path: "/extra" },
    { body: { webhook_url: "http://example.com/hook" }, path: "/webhook_url" },
    { body: { webhook_url: "https://10.0.0.1/hook" }, path: "/webhook_url" },
    { body: { webhook_url: "https://u:p@example.com/hook" }, path: "/webhook_url" },
  ])("refuses $body", async ({ body, error, path }) => {
    const answer = await ask(body);
    expect({ status: answer.status, body: JSON.parse(answer.body) as unknown }).toMatchObject({ status: 400, body: { code: "INVALID_REQUEST", ...(path && { path }), ...(error && { error: expect.stringMatching(error) as string }) } });
  });

  it.each([
    { type: "text/plain", body: "email=a@example.com", status: 415 },
    { type: "multipart/form-data; boundary=x", body: "--x--", status: 415 },
    { type: "application/json", body: "{", status: 400 },
  ])("refuses a body of $type", async ({ type, body, status }) => {
    const answer = await bench.plane.app.inject({ method: "POST", url: at(), headers: { "content-type": type }, payload: body });
    expect(answer.statusCode).toBe(status);
  });
});

describe("is limited", () => {
  it("for an address: one confirmation in ten minutes, five in a day", async () => {
    const page = await makePage();
    const asks = async (times: number) => {
      for (let i = 0; i < times; i++) expect((await bench.visit("POST", `/pages/${page.slug}/subscribers`, { json: { email: i % 2 === 0 ? "bomb@example.com" : "BOMB@example.com" } })).status).toBe(202);
    };
    await asks(3);
    expect(await queued("bomb@example.com")).toBe(1);
    for (let i = 0; i < 6; i++) {
      await bench.pass(10 * MINUTE);
      await asks(2);
    }
    expect(await queued("bomb@example.com")).toBe(5);
    await bench.pass(DAY);
    await asks(1);
    expect(await queued("bomb@example.com")).toBe(6);
  });

  it("for an address that is asked many times at once", async () => {
    const answers = await Promise.all(Array.from({ length: 20 }, (_, index) => ask({ email: index % 2 === 0 ? "race@example.com" : "Race@Example.com" })));
    expect(new Set(answers.map(({ status, body }) => `${status} ${body}`)).size).toBe(1);
    expect((await queued("race@example.com")) + (await queued("Race@example.com"))).toBe(1);
  });

  it("for a mailbox over all pages, whatever tags are used", async () => {
    const pages = await Promise.all(Array.from({ length: 12 }, () => makePage()));
    for (const [index, page] of pages.entries()) expect((await bench.visit("POST", `/pages/${page.slug}/subscribers`, { json: { email: `many+${index}@example.com` } })).status).toBe(202);
    expect(await bench.plane.database.$count(mails, eq(mails.kind, "confirmation"))).toBeGreaterThan(0);
    const sent = await Promise.all(pages.map((_page, index) => queued(`many+${index}@example.com`)));
    expect(sent.reduce((sum, each) => sum + each)).toBe(10);
  });

  it("for a client's address", async () => {
    const plane = await startTestControlPlane({ settings: { SMTP_URL: "smtp://127.0.0.1:9", MAIL_FROM: "a@b.example", RATE_LIMIT_SUBSCRIBE: "2" }, clock: { now: () => 1_769_860_800_000, monotonic: () => 0 } });
    const from = async (address: string, email: string) => (await plane.app.inject({ method: "POST", url: `/pages/${plane.organization.pageSlug}/subscribers`, headers: { "x-forwarded-for": address }, payload: { email } })).statusCode;
    expect([await from("203.0.113.1", "a@x.example"), await from("203.0.113.1", "b@x.example"), await from("203.0.113.1", "c@x.example"), await from("203.0.113.2", "d@x.example")]).toEqual([202, 202, 429, 202]);
    // Judged before the body is read, which none of these could be.
    const broken = async (contentType: string, address: string) =>
      (await plane.app.inject({ method: "POST", url: `/pages/${plane.organization.pageSlug}/subscribers`, headers: { "x-forwarded-for": address, "content-type": contentType }, payload: `{${"x".repeat(100_000)}` })).statusCode;
    for (const type of ["application/json", "application/x-www-form-urlencoded"]) {
      expect([await broken(type, "203.0.113.1"), await broken(type, "203.0.113.3")]).toEqual([429, 413]);
    }
    await plane.stop();
  });
});

describe("leaving", () => {
  it("is one click of the mail program, by the mail's own headers", async () => {
    for (const [email, body] of [["click@example.com", { form: "List-Unsubscribe=One-Click" }], ["multi@example.com", {}]] as const) {
      await bench.subscribe(slug(), email);
      await bench.plane.call("POST", "/incidents", { title: "Trouble", services: ["Website"] });
      await expect.poll(() => bench.mail.mailsTo(email).at(-1)!.parsed.subject).toBe("[Test team] Trouble: investigating");
      const mail = bench.mail.mailsTo(email).at(-1)!;
      expect(headerOf(mail, "list-unsubscribe-post")).toBe("List-Unsubscribe=One-Click");
      const [, url] = /^<(https:\/\/[^>]+)>$/.exec(headerOf(mail, "list-unsubscribe")!)!;
      // A scanner that follows the link changes nothing.
      expect((await bench.visit("GET", url!)).body).toContain("Unsubscribe");
      expect((await stateOf(email))!.state).toBe("active");
      const left = await bench.visit("POST", url!, body, email === "multi@example.com" ? { "content-type": "multipart/form-data; boundary=x" } : {});
      expect(left.status).toBe(200);
      expect((await stateOf(email))!.state).toBe("unsubscribed");
      expect((await bench.visit("POST", url!, body)).status).toBe(200);
      expect((await bench.visit("GET", url!)).body).not.toContain("<form");
    }
  });

  it("works with nobody else's token", async () => {
    await bench.subscribe(slug(), "stays@example.com");
    for (const token of ["", "x", "A".repeat(64), `${"A".repeat(63)}'`]) {
      for (const name of ["confirm", "unsubscribe", "services"]) expect((await bench.visit("POST", at(`/${name}?token=${token}`))).status).toBe(404);
    }
    expect((await stateOf("stays@example.com"))!.state).toBe("active");
    expect((await bench.visit("GET", `/pages/none/subscribers/unsubscribe?token=x`)).status).toBe(404);
  });

  it("or choosing services stands behind the mail's link", async () => {
    await bench.subscribe(slug(), "chooser@example.com");
    await bench.plane.call("POST", "/incidents", { title: "Choose", services: ["Website"] });
    await expect.poll(() => bench.mail.mailsTo("chooser@example.com").length).toBe(2);
    const own = /<(.+)>/.exec(headerOf(bench.mail.mailsTo("chooser@example.com")[1]!, "list-unsubscribe")!)![1]!;
    const page = await bench.visit("GET", own);
    const [, action] = /action="([^"]+\/services\?[^"]+)"/.exec(page.body)!;
    const { serviceId } = bench.plane.organization;
    expect((await bench.visit("POST", action!, { form: `services=${serviceId}` })).body).toContain("Your choice was saved.");
    expect((await stateOf("chooser@example.com"))!.services).toEqual([serviceId]);
    expect((await bench.visit("GET", own)).body).toMatch(new RegExp(`value="${serviceId}" checked`));
    expect((await bench.visit("POST", action!, { form: "" })).status).toBe(200);
    expect((await stateOf("chooser@example.com"))!.services).toEqual([]);
  });
});

describe("the form", () => {
  it("stands on the page with labels, and its answer is a page", async () => {
    const page = await bench.visit("GET", `/pages/${slug()}`);
    expect(page.body).toContain(`<form class="card form" method="post" action="${at()}">`);
    expect(page.body).toMatch(/<label for="subscribe-email">Email address<\/label><input id="subscribe-email" name="email" type="email"/);
    expect(page.headers["content-security-policy"]).toContain("form-action 'self'");
    const answer = await bench.visit("POST", at(), { form: `email=form%40example.com&services=${bench.plane.organization.serviceId}` });
    expect(answer).toMatchObject({ status: 202, headers: { "content-type": "text/html; charset=utf-8" } });
    expect(answer.body).toContain("Check your mail");
    await expect.poll(() => bench.mail.mailsTo("form@example.com")).toHaveLength(1);
    await bench.visit("POST", linkOf(bench.mail.mailsTo("form@example.com")[0]!));
    expect((await stateOf("form@example.com"))!.services).toEqual([bench.plane.organization.serviceId]);
  });

  it("says what is wrong and repeats nothing as markup", async () => {
    const nasty = `"><script>alert(1)</script>`;
    const answer = await bench.visit("POST", at(), { form: new URLSearchParams({ email: nasty, services: nasty }).toString() });
    expect(answer.status).toBe(400);
    expect(answer.body).toContain("That did not work");
    expect(answer.body).not.toContain("<script>");
    const services = await bench.visit("POST", at(), { form: new URLSearchParams({ email: "a@example.com", services: nasty }).toString() });
    expect(services.status).toBe(400);
    expect(services.body).not.toContain("<script>");
  });

  it("is in the page's language", async () => {
    const page = await makePage({ status_page_language: "he" });
    const shown = await bench.visit("GET", `/pages/${page.slug}`);
    expect(shown.body).toMatch(/<section lang="he" dir="rtl"/);
    expect((await bench.visit("POST", `/pages/${page.slug}/subscribers`, { form: "email=he%40example.com" })).body).toContain(`<html lang="he" dir="rtl">`);
  });

  it("is not there when the page wants none, nor can anybody subscribe", async () => {
    const page = await makePage({ show_subscribe_form: false });
    expect((await bench.visit("GET", `/pages/${page.slug}`)).body).not.toContain("<form");
    expect((await bench.visit("POST", `/pages/${page.slug}/subscribers`, { json: { email: "a@example.com" } })).status).toBe(404);
    expect((await bench.visit("POST", `/pages/${page.slug}/subscribers`, { form: "email=a%40example.com" })).status).toBe(404);
  });

  it("of a private page is for those who may see it", async () => {
    const page = await makePage({ status_page_visibility: "private" });
    const path = `/pages/${page.slug}/subscribers`;
    const hidden = await bench.visit("POST", path, { json: { email: "spy@example.com" } }, { "x-request-id": "same" });
    const missing = await bench.visit("POST", "/pages/there-is-none/subscribers", { json: { email: "spy@example.com" } }, { "x-request-id": "same" });
    expect({ status: hidden.status, body: hidden.body }).toEqual({ status: 404, body: missing.body });
    const { body } = await bench.plane.call("POST", `/status-pages/${page.id}/access-links`, {});
    const shown = await bench.visit("GET", body.url as string);
    const [, action] = /<form class="card form" method="post" action="([^"]+)"/.exec(shown.body)!;
    expect((await bench.visit("POST", action!, { form: "email=guest%40example.com" })).status).toBe(202);
    await expect.poll(() => bench.mail.mailsTo("guest@example.com")).toHaveLength(1);
  });
});

it("without SMTP_URL there is no form, and a mail address is told why", async () => {
  const plane = await startTestControlPlane();
  const url = `/pages/${plane.organization.pageSlug}`;
  expect((await plane.app.inject({ method: "GET", url })).body).not.toContain("<form");
  const answer = await plane.app.inject({ method: "POST", url: `${url}/subscribers`, payload: { email: "a@example.com" } });
  expect(answer.statusCode).toBe(503);
  expect(answer.json()).toMatchObject({ code: "UNAVAILABLE", fix: expect.stringContaining("An operator must set SMTP_URL") as string });
  expect(await plane.database.$count(subscribers)).toBe(0);
  await plane.stop();
});
