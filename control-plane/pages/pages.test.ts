import { createHash } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createOrganization } from "../../domain/organizations/create.ts";
import { startTestControlPlane, type TestControlPlane } from "../../testing/control-plane.ts";

let plane: TestControlPlane;
beforeAll(async () => {
  plane = await startTestControlPlane({ probes: async (path) => ({ status: path === "/readyz" ? 200 : 403, contentType: "application/json; charset=utf-8", body: "{}" }) });
});
afterAll(() => plane.stop());

const visit = (url: string, headers: Record<string, string> = { accept: "text/html" }) => plane.app.inject({ method: "GET", url, headers });

const slug = () => plane.organization.pageSlug;

describe("a public status page", () => {
  it("shows its services and that all is well", async () => {
    const page = await visit(`/pages/${slug()}`);
    expect(page.statusCode).toBe(200);
    expect(page.headers["content-type"]).toBe("text/html; charset=utf-8");
    expect(page.body).toMatch(/^<!doctype html><html lang="en" /);
    for (const text of ["Test team", "Website", "Operational", "All services are working", "No incident is open."]) expect(page.body).toContain(text);
  });

  it("allows no script but its own, which it does not need", async () => {
    const page = await visit(`/pages/${slug()}`);
    expect(page.body.replace(/<script src="\/assets\/page\.js\?v=[\w-]+" defer><\/script>/, "")).not.toMatch(/<script|javascript:| on\w+=| style=/i);
    const [, style] = /<style>([^<]+)<\/style>/.exec(page.body)!;
    expect(page.headers["content-security-policy"]).toContain(`default-src 'none'; style-src 'sha256-${createHash("sha256").update(style!).digest("base64")}'; script-src 'self';`);
    expect(page.headers["x-content-type-options"]).toBe("nosniff");
    const [, script] = /<script src="([^"]+)"/.exec(page.body)!;
    const [, styles] = /<link rel="stylesheet" href="([^"]+)"/.exec((await visit("/")).body)!;
    for (const [asset, type] of [[script, "text/javascript; charset=utf-8"], [styles, "text/css; charset=utf-8"]] as const) {
      expect(await visit(asset!)).toMatchObject({ statusCode: 200, headers: { "content-type": type, "cache-control": "public, max-age=31536000, immutable" } });
    }
  });

  it("shows open incidents with their updates, until they are resolved", async () => {
    const { body: incident } = await plane.call("POST", "/incidents", { title: "Payments fail", severity: "major", message: "We are looking into it.", services: ["Website"] });
    await plane.call("POST", `/incidents/${incident.id as string}/updates`, { message: "A fix is on its way.", status: "identified" });
    const during = (await visit(`/pages/${slug()}`)).body;
    for (const text of ["Payments fail", "Major", "Affects Website", "We are looking into it.", "A fix is on its way.", "Identified", "Partial outage", "Some services are partly down"]) expect(during).toContain(text);
    expect(during.indexOf("A fix is on its way.")).toBeLessThan(during.indexOf("We are looking into it."));
    await plane.call("PATCH", `/incidents/${incident.id as string}`, { status: "resolved" });
    const after = (await visit(`/pages/${slug()}`)).body;
    expect(after).toContain("No incident is open.");
    expect(after.indexOf("Payments fail")).toBeGreaterThan(after.indexOf("Past incidents"));
    expect(after).toContain("All services are working");
  });

  it("shows text as text, whatever it says", async () => {
    const nasty = `<img src=x onerror="alert(1)"><script>alert(1)</script>`;
    const { pageSlug, apiKey } = await createOrganization(plane.database, { name: nasty, plan: "team", tagline: nasty });
    await plane.call("POST", "/incidents", { title: nasty, message: nasty, services: ["Website"] }, { "x-api-key": apiKey });
    const { body } = await visit(`/pages/${pageSlug}`);
    expect(body).not.toMatch(/<img|<script(?! src="\/assets)/);
    expect(body.split("&lt;script>").length + body.split("&lt;script&gt;").length - 2).toBeGreaterThanOrEqual(4);
  });

  it("tells nothing of services and incidents that are not on it", async () => {
    const { body: hidden } = await plane.call("POST", "/services", { name: "Secret backend" });
    await plane.call("POST", "/incidents", { title: "Secret trouble", services: [hidden.id] });
    await plane.call("POST", "/incidents", { title: "Shared trouble", services: [hidden.id, "Website"] });
    await plane.call("POST", "/incidents", { title: "Trouble of no service" });
    const { body } = await visit(`/pages/${slug()}`);
    expect(body).not.toContain("Secret");
    expect(body).toContain("Shared trouble");
    expect(body).toContain("Trouble of no service");
  });

  it("says so when it shows no services", async () => {
    const { pageId, pageSlug, apiKey } = await plane.createOrganization("pro");
    await plane.call("PUT", `/status-pages/${pageId}/services`, { service_ids: [] }, { "x-api-key": apiKey });
    expect((await visit(`/pages/${pageSlug}`)).body).toContain("No services are shown here yet");
  });

  it.each(["none", "UPPER", "a%00b", "..%2F..%2Fetc", "%3Cscript%3E", "a".repeat(90)])("that does not exist is 404 in HTML: %s", async (name) => {
    const page = await visit(`/pages/${name}`);
    expect(page.statusCode).toBe(404);
    expect(page.body).toContain("There is no such page");
  });
});

describe("the start page", () => {
  it("leads to the pages, the reference and the health of the service", async () => {
    const page = await visit("/");
    expect(page.statusCode).toBe(200);
    for (const link of [`/pages/${slug()}`, "/docs/", "/openapi.json", "/readyz"]) expect(page.body).toContain(`href="${link}"`);
    expect(page.body).toContain("This service is ready");
  });
});

it("an unknown address is a page for people and JSON for programs", async () => {
  const page = await visit("/nothing");
  expect(page.statusCode).toBe(404);
  expect(page.headers["content-type"]).toMatch(/^text\/html/);
  expect((await visit("/nothing", { accept: "application/json" })).json()).toMatchObject({ code: "NOT_FOUND" });
});

it("probes are answered with what they are given", async () => {
  expect((await visit("/readyz")).statusCode).toBe(200);
  expect((await visit("/metrics")).statusCode).toBe(403);
});

it("while Postgres is away people get a page that says to try again", async () => {
  const away = await startTestControlPlane();
  await away.cutPostgres();
  for (const url of ["/", "/pages/demo"]) {
    const page = await away.app.inject({ method: "GET", url, headers: { accept: "text/html" } });
    expect(page.statusCode).toBe(503);
    expect(page.headers["retry-after"]).toBe("5");
    expect(page.body).toContain("cannot be shown right now");
  }
  await away.stop();
});
