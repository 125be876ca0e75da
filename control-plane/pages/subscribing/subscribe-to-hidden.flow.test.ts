import { eq } from "drizzle-orm";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { signPreview } from "../../../domain/designs/preview-link.ts";
import { signAccess } from "../../../domain/status-pages/access-link.ts";
import type { StatusPageRow } from "../../../domain/status-pages/columns.ts";
import { signPass } from "../../../domain/status-pages/page-pass.ts";
import { statusPages, subscribers } from "../../../schemas/tables/all.ts";
import { startTestControlPlane, type TestControlPlane } from "../../../testing/control-plane.ts";

const NONE = "there-is-none";
const NOW = Date.UTC(2026, 0, 31, 12);
const END = NOW / 1_000 + 60;

let plane: TestControlPlane;
beforeAll(async () => {
  plane = await startTestControlPlane({ settings: { SMTP_URL: "smtp://127.0.0.1:9", MAIL_FROM: "a@b.example", RATE_LIMIT_SUBSCRIBE: "0" }, clock: { now: () => NOW, monotonic: () => 0 } });
});
afterAll(() => plane.stop());

const PAGES = {
  password: { status_page_password: "open sesame" },
  ip_restricted: { allowed_ips: ["203.0.113.0/24"] },
  private: {},
};
type Hidden = keyof typeof PAGES;

interface Brings {
  query?: string;
  headers?: Record<string, string>;
}

/** What opens a page of each of these visibilities. */
const KEYS: Record<Hidden, (page: StatusPageRow) => Brings> = {
  password: (page) => ({ headers: { cookie: `pharos_page_${page.id.slice(0, 8)}=${signPass(page, NOW)}` } }),
  ip_restricted: () => ({ headers: { "x-forwarded-for": "203.0.113.9" } }),
  private: ({ slug, accessLinkSecret }) => ({ query: `?access=${signAccess({ slug, expiresAt: END }, accessLinkSecret)}` }),
};

async function makePage(visibility: Hidden, more: Record<string, unknown> = {}): Promise<StatusPageRow> {
  const { body } = await plane.call("POST", "/status-pages", { name: "Secret plans", status_page_visibility: visibility, ...PAGES[visibility], ...more });
  const [page] = await plane.database.select().from(statusPages).where(eq(statusPages.id, (body.page as { id: string }).id));
  return page!;
}

/** An answer without the moment that it was given at. */
async function ask(method: "GET" | "POST", url: string, headers: Record<string, string>, payload?: string) {
  const answer = await plane.app.inject({ method, url, headers: { "x-request-id": "same", ...headers }, ...(payload !== undefined && { payload }) });
  const { date: _date, ...rest } = answer.headers;
  return { status: answer.statusCode, headers: rest, body: answer.body };
}

const byForm = (slug: string, { query = "", headers }: Brings = {}) => ask("POST", `/pages/${slug}/subscribers${query}`, { "content-type": "application/x-www-form-urlencoded", ...headers }, "email=ada%40example.com");
const byJson = (slug: string, { query = "", headers }: Brings = {}) => ask("POST", `/pages/${slug}/subscribers${query}`, { "content-type": "application/json", ...headers }, JSON.stringify({ email: "ada@example.com" }));
const byDeadLink = (slug: string, { query = "?", headers }: Brings = {}) => ask("GET", `/pages/${slug}/subscribers/confirm${query}&token=x`, { ...headers });

const hidden = Object.keys(PAGES) as Hidden[];

describe.each(hidden)("a page that is %s", (visibility) => {
  it("is no page to who may not see it", async () => {
    const page = await makePage(visibility);
    const wrong: Brings[] = [{}, ...hidden.filter((each) => each !== visibility).map((each) => KEYS[each](page)), { query: "?access=x&preview=y", headers: { cookie: `pharos_page_${page.id.slice(0, 8)}=z` } }];
    for (const brings of wrong) {
      for (const way of [byForm, byJson, byDeadLink]) {
        const answer = await way(page.slug, brings);
        expect(answer.status).toBe(404);
        expect(answer).toEqual(await way(NONE, brings));
      }
    }
    expect(await plane.database.$count(subscribers, eq(subscribers.statusPageId, page.id))).toBe(0);
  });

  it("takes who may see it", async () => {
    const page = await makePage(visibility);
    for (const brings of [KEYS[visibility](page), { query: `?preview=${signPreview(page, END)}` }]) {
      expect((await byForm(page.slug, brings)).status).toBe(202);
      expect((await byJson(page.slug, brings)).status).toBe(202);
      expect((await byDeadLink(page.slug, brings)).body).toContain("This link was used already or has expired.");
    }
    expect(await plane.database.$count(subscribers, eq(subscribers.statusPageId, page.id))).toBe(1);
  });

  it("takes nobody when it offers no subscriptions", async () => {
    const page = await makePage(visibility, { show_subscribe_form: false });
    expect(await byForm(page.slug, KEYS[visibility](page))).toEqual(await byForm(NONE));
  });
});

it.each(["a%00b", "UPPER", "%20", "a".repeat(64), "..%2Facme"])("%s is no page to anybody", async (slug) => {
  for (const way of [byForm, byJson, byDeadLink]) expect((await way(slug)).status).toBe(404);
  expect((await ask("POST", `/pages/${slug}/subscribers/unsubscribe?token=${"A".repeat(64)}`, {})).status).toBe(404);
});
