import { eq } from "drizzle-orm";
import fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from "fastify";
import type { VNode } from "preact";
import { renderToString } from "preact-render-to-string";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { judgeVisitor } from "../../../domain/status-pages/judge-visitor.ts";
import { makeTryPassword, type TryPassword } from "../../../domain/status-pages/try-password.ts";
import { newId } from "../../../platform/ids.ts";
import { readConfig } from "../../../platform/config.ts";
import { statusPages } from "../../../schemas/tables/all.ts";
import { startTestControlPlane, type TestControlPlane } from "../../../testing/control-plane.ts";
import { makeUnlock, prepareUnlock, UnlockPage } from "./unlock.tsx";
import { visitorOf } from "./visitor-of.ts";

const PASSWORD = "correct horse";
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

let plane: TestControlPlane;
let now = Date.UTC(2026, 0, 31, 12);
const clock = { now: () => now, monotonic: () => now };
let app: FastifyInstance;
beforeAll(async () => {
  plane = await startTestControlPlane();
  app = await startPages();
});
afterAll(async () => {
  await app.close();
  await plane.stop();
});
// Each test has a minute, and with it all attempts, of its own.
beforeEach(() => {
  now += MINUTE;
});

const addressOf = ({ headers }: FastifyRequest) => (typeof headers["x-test-address"] === "string" ? headers["x-test-address"] : "198.51.100.7");

/** A page below /pages, which also stands at / when it is asked for with a host of its own, and where its passwords are sent. */
async function startPages(settings: Record<string, string> = {}, tryPassword?: TryPassword): Promise<FastifyInstance> {
  const read = readConfig(settings);
  if ("faults" in read) throw new Error(read.faults.join("\n"));
  const pages = fastify();
  const send = (reply: FastifyReply, status: number, page: VNode) => reply.code(status).header("Content-Type", "text/html").header("Cache-Control", "no-cache").send(renderToString(page));
  const unlock = makeUnlock({ clock, config: read.config, addressOf, send, styles: "/page.css", ...(tryPassword && { tryPassword }) });
  const find = async (slug: string) => (await plane.database.select().from(statusPages).where(eq(statusPages.slug, slug)))[0]!;
  await pages.register(async (scope) => {
    prepareUnlock(scope);
    scope.post<{ Params: { slug: string } }>("/pages/:slug/unlock", async (request, reply) => unlock(request, reply, { page: await find(request.params.slug), base: `/pages/${request.params.slug}`, action: request.url }));
    scope.post<{ Params: { slug: string } }>("/custom/:slug/unlock", async (request, reply) => unlock(request, reply, { page: await find(request.params.slug), base: "", action: "/unlock" }));
    scope.get<{ Params: { slug: string } }>("/pages/:slug", async (request, reply) => {
      const page = await find(request.params.slug);
      return reply.send(judgeVisitor(page, visitorOf(request, page, { addressOf, now })));
    });
  });
  await pages.ready();
  return pages;
}

async function makePage(more: Record<string, unknown> = {}): Promise<{ id: string; slug: string }> {
  const { status, body } = await plane.call("POST", "/status-pages", { name: `Secret plans ${newId()}`, status_page_visibility: "password", status_page_password: PASSWORD, ...more });
  expect(status).toBe(201);
  return body.page as { id: string; slug: string };
}

const form = (password: string) => new URLSearchParams({ password }).toString();
async function send(path: string, payload: string, headers: Record<string, string> = {}, pages = app) {
  return pages.inject({ method: "POST", url: path, headers: { "content-type": "application/x-www-form-urlencoded", ...headers }, payload });
}
const unlock = (slug: string, password: string, headers?: Record<string, string>) => send(`/pages/${slug}/unlock`, form(password), headers);
const see = async (slug: string, cookie?: string) => (await app.inject({ method: "GET", url: `/pages/${slug}`, headers: cookie === undefined ? {} : { cookie } })).json<object>();
const cookieOf = (answer: { headers: Record<string, unknown> }) => String(answer.headers["set-cookie"]).split(";")[0]!;

const PRIVATELY = { "cache-control": "no-store", "x-robots-tag": "noindex", "referrer-policy": "no-referrer" };

describe("the right password", () => {
  it("gives a pass to this page for twelve hours, and leads there", async () => {
    const [page, other] = [await makePage(), await makePage()];
    const answer = await unlock(page.slug, PASSWORD);
    expect(answer).toMatchObject({ statusCode: 303, headers: { location: `/pages/${page.slug}`, ...PRIVATELY } });
    expect(answer.headers["set-cookie"]).toMatch(new RegExp(`^pharos_page_${page.id.slice(0, 8)}=\\d+\\.[\\w-]{43}; Path=/pages/${page.slug}; Max-Age=43200; HttpOnly; SameSite=Lax$`));
    const cookie = cookieOf(answer);
    expect(await see(page.slug)).toEqual({ kind: "password" });
    expect(await see(page.slug, cookie)).toEqual({ kind: "shown", as: "few" });
    expect(await see(page.slug, `theme=dark; ${cookie};lang=en`)).toEqual({ kind: "shown", as: "few" });
    for (const wrong of [`x${cookie}`, cookie.toUpperCase(), `${cookie}=`, cookie.slice(0, -1), cookie.replace("=", "")]) expect(await see(page.slug, wrong), wrong).toEqual({ kind: "password" });
    expect(await see(other.slug, cookie.replace(page.id.slice(0, 8), other.id.slice(0, 8)))).toEqual({ kind: "password" });
    now += 12 * HOUR - 1;
    expect(await see(page.slug, cookie)).toEqual({ kind: "shown", as: "few" });
    now += 1;
    expect(await see(page.slug, cookie)).toEqual({ kind: "password" });
  });

  it("stops to be right, and its passes to count, when the page gets another", async () => {
    const page = await makePage();
    const cookie = cookieOf(await unlock(page.slug, PASSWORD));
    await plane.call("PATCH", `/status-pages/${page.id}`, { status_page_password: "battery staple" });
    expect(await see(page.slug, cookie)).toEqual({ kind: "password" });
    expect((await unlock(page.slug, PASSWORD)).statusCode).toBe(401);
    const renewed = cookieOf(await unlock(page.slug, "battery staple"));
    expect(await see(page.slug, renewed)).toEqual({ kind: "shown", as: "few" });
  });

  it("below a domain of the page's own counts for all of it", async () => {
    const page = await makePage();
    const answer = await send(`/custom/${page.slug}/unlock`, form(PASSWORD));
    expect(answer).toMatchObject({ statusCode: 303, headers: { location: "/" } });
    expect(answer.headers["set-cookie"]).toContain("; Path=/; ");
  });

  it("is kept off http by who came by https, as a proxy or the operator says", async () => {
    const page = await makePage();
    const behind = await startPages({ PUBLIC_URL: "https://status.example.com/" });
    const secure = async (headers: Record<string, string>, pages = app) => String((await send(`/pages/${page.slug}/unlock`, form(PASSWORD), headers, pages)).headers["set-cookie"]).endsWith("; Secure");
    expect([await secure({}), await secure({ "x-forwarded-proto": "https" }), await secure({ "x-forwarded-proto": "HTTPS, http" }), await secure({ "x-forwarded-proto": "http, https" })]).toEqual([false, true, true, false]);
    expect([await secure({ host: "status.example.com" }, behind), await secure({ host: "10.0.0.1:8080" }, behind)]).toEqual([true, false]);
    await behind.close();
  });

  it("is read whole, whatever it is written with", async () => {
    const password = `a+b & c=d%20 ${"🚢é".repeat(20)} "'<>`;
    const page = await makePage({ status_page_password: password });
    expect((await unlock(page.slug, password)).statusCode).toBe(303);
    expect((await unlock(page.slug, ` ${password}`)).statusCode).toBe(401);
    const longest = "ﷺ".repeat(255);
    const { slug } = await makePage({ status_page_password: longest });
    expect((await unlock(slug, longest)).statusCode).toBe(303);
  });
});

it("a password is asked for without a word of an error before one was given", () => {
  const asked = (hint: string | null) => renderToString(UnlockPage({ language: "en", styles: "/page.css", action: "/unlock", hint, error: null }));
  expect(asked(null)).toContain(`<input id="password" name="password" type="password" autocomplete="current-password" required/><button`);
  expect(asked("A horse")).toContain(`required aria-describedby="password-hint"/><p id="password-hint" class="quiet">Hint: A horse</p><button`);
});

describe("another password", () => {
  it("is asked for again, with the hint and nothing else of the page", async () => {
    const page = await makePage({ status_page_password_hint: `<b>The usual</b> {hint}`, tagline: "Plans of plans", primary_color: "#ab12cd", announcement_text: "Moving", announcement_enabled: true });
    const answer = await unlock(page.slug, "wrong");
    expect(answer).toMatchObject({ statusCode: 401, headers: PRIVATELY });
    expect(answer.headers).not.toHaveProperty("set-cookie");
    expect(answer.body).toContain(`<form class="form" method="post" action="/pages/${page.slug}/unlock">`);
    expect(answer.body).toContain(`<label for="password">Password</label><input id="password" name="password" type="password" autocomplete="current-password" required aria-describedby="password-hint password-error" aria-invalid="true"/>`);
    expect(answer.body).toMatch(/<p id="password-hint" class="quiet">Hint: &lt;b>The usual&lt;\/b> \{hint\}<\/p>/);
    expect(answer.body).toContain(`<p id="password-error" class="error" role="alert">This is not the password.</p>`);
    expect(answer.body.replaceAll(page.slug, "")).not.toMatch(/Secret|Plans|ab12cd|Moving|autofocus|wrong/);
  });

  it("is whatever a page says that has no password to it, and its hint is not told", async () => {
    for (const status_page_visibility of ["public", "private"]) {
      const { slug } = await makePage({ status_page_visibility, status_page_password_hint: "The usual" });
      const answer = await unlock(slug, PASSWORD);
      expect(answer.statusCode).toBe(401);
      expect(answer.body).toContain("This is not the password.");
      expect(answer.body).not.toContain("The usual");
    }
  });

  it("is asked for in the page's language", async () => {
    const { slug } = await makePage({ status_page_language: "he" });
    expect((await unlock(slug, "wrong")).body).toMatch(/<html lang="he" dir="rtl">/);
  });

  it.each([
    { name: "nothing", type: "application/x-www-form-urlencoded", payload: "" },
    { name: "another field", type: "application/x-www-form-urlencoded", payload: `passwort=${PASSWORD}` },
    { name: "a character that is none", type: "application/x-www-form-urlencoded", payload: "password=%00%ff%" },
    { name: "more than a password needs", type: "application/x-www-form-urlencoded", payload: `${form(PASSWORD)}&x=${"x".repeat(2_000_000)}` },
    { name: "JSON", type: "application/json", payload: JSON.stringify({ password: PASSWORD }) },
    { name: "rubbish for JSON", type: "application/json", payload: "{" },
    { name: "a form with files", type: "multipart/form-data; boundary=x", payload: `--x\r\ncontent-disposition: form-data; name="password"\r\n\r\n${PASSWORD}\r\n--x--` },
    { name: "text", type: "text/plain", payload: form(PASSWORD) },
  ])("is $name", async ({ type, payload }) => {
    const { slug } = await makePage();
    expect((await send(`/pages/${slug}/unlock`, payload, { "content-type": type })).statusCode).toBe(401);
  });
});

describe("attempts are limited", () => {
  const from = (address: string) => ({ "x-test-address": address });

  it("for a client's address and a page: ten in a minute", async () => {
    const [page, other] = [await makePage(), await makePage()];
    now += MINUTE - (now % MINUTE) + 15_000;
    for (let n = 0; n < 10; n++) expect((await unlock(page.slug, "x".repeat(256))).statusCode).toBe(401);
    const refused = await unlock(page.slug, PASSWORD);
    expect(refused).toMatchObject({ statusCode: 429, headers: { "retry-after": "45", ...PRIVATELY } });
    expect(refused.body).toContain("Too many attempts. Please try again in 45 s.");
    expect(refused.headers).not.toHaveProperty("set-cookie");
    expect((await unlock(page.slug, PASSWORD, from("203.0.113.1"))).statusCode).toBe(303);
    expect((await unlock(other.slug, PASSWORD)).statusCode).toBe(303);
    now += 45_000;
    expect((await unlock(page.slug, PASSWORD)).statusCode).toBe(303);
  });

  it("for a page: three hundred in a minute over all addresses, of which refused ones are none", async () => {
    const [page, other] = [await makePage(), await makePage()];
    for (let n = 0; n < 30; n++) await unlock(page.slug, "x".repeat(256), from("203.0.113.0"));
    for (let n = 0; n < 289; n++) expect((await unlock(page.slug, "x".repeat(256), from(`10.1.${n >> 8}.${n & 255}`))).statusCode).toBe(401);
    expect((await unlock(page.slug, PASSWORD, from("203.0.113.1"))).statusCode).toBe(303);
    expect((await unlock(page.slug, PASSWORD, from("203.0.113.2"))).statusCode).toBe(429);
    expect((await unlock(other.slug, PASSWORD, from("203.0.113.2"))).statusCode).toBe(303);
  });

  it("by the operator's figure, 0 for none", async () => {
    const { slug } = await makePage();
    const [two, none] = [await startPages({ RATE_LIMIT_PAGE_PASSWORD: "2" }), await startPages({ RATE_LIMIT_PAGE_PASSWORD: "0" })];
    const statuses = async (pages: FastifyInstance, times: number) => {
      const found: number[] = [];
      for (let n = 0; n < times; n++) found.push((await send(`/pages/${slug}/unlock`, "", {}, pages)).statusCode);
      return found;
    };
    expect(await statuses(two, 3)).toEqual([401, 401, 429]);
    expect(new Set(await statuses(none, 30))).toEqual(new Set([401]));
    await Promise.all([two.close(), none.close()]);
  });

  it("for a process: beyond its queue people are asked to come again", async () => {
    const { slug } = await makePage();
    const busy = await startPages({}, makeTryPassword({ atOnce: 0, waiting: 0 }));
    const answer = await send(`/pages/${slug}/unlock`, form(PASSWORD), {}, busy);
    expect(answer).toMatchObject({ statusCode: 503, headers: { "retry-after": "2", ...PRIVATELY } });
    expect(answer.body).toContain("Please try again in 2 s.");
    await busy.close();
  });
});
