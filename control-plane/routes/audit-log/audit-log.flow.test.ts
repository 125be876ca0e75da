import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { CreatedOrganization } from "../../../domain/organizations/create.ts";
import { newId } from "../../../platform/ids.ts";
import { auditEntries } from "../../../schemas/tables/all.ts";
import { startTestControlPlane, type TestControlPlane } from "../../../testing/control-plane.ts";

interface Entry {
  id: string;
  actor: { type: string; id: string | null; name: string };
  action: string;
  resource: { type: string; id: string };
  created_at: string;
}

let plane: TestControlPlane;
let other: CreatedOrganization;
beforeAll(async () => {
  plane = await startTestControlPlane();
  other = await plane.createOrganization("team");
});
afterAll(() => plane.stop());

async function read(query = "", headers: Record<string, string> = {}): Promise<{ entries: Entry[]; next_cursor: string | null }> {
  const { status, body } = await plane.call("GET", `/audit-log${query}`, undefined, headers);
  expect(status).toBe(200);
  return body as unknown as { entries: Entry[]; next_cursor: string | null };
}

/** Entries of another organization's log, all of one moment if wanted. */
async function write(count: number, createdAt: Date): Promise<void> {
  await plane.database.insert(auditEntries).values(
    Array.from({ length: count }, (_, at) => ({
      id: newId(), organizationId: other.organizationId, actorType: "system", actorName: "test", action: "thing.done", resourceType: "thing", resourceId: newId(), changedFields: [`${at}`], createdAt,
    })),
  );
}

describe("the audit log", () => {
  it("tells who changed what, newest first", async () => {
    const { body: service } = await plane.call("POST", "/services", { name: "Checkout" }, { "user-agent": "test/1" });
    await plane.call("PATCH", `/services/${String(service.id)}`, { name: "Cash desk" });
    const { entries } = await read("?limit=2");
    expect(entries[0]).toMatchObject({
      actor: { type: "api_key", id: expect.any(String), name: "First key" },
      action: "service.updated",
      resource: { type: "service", id: service.id },
      changed_fields: ["name"],
      before: { name: "Checkout" },
      after: { name: "Cash desk" },
      ip: "127.0.0.1",
    });
    expect(entries[1]).toMatchObject({ action: "service.created", before: null, user_agent: "test/1" });
  });

  it("is filtered by action, kind of resource and actor", async () => {
    const all = (await read("?limit=100")).entries;
    const key = all.find(({ actor }) => actor.type === "api_key");
    for (const [query, matches] of [
      ["action=service.updated", (entry: Entry) => entry.action === "service.updated"],
      ["resource_type=service", (entry: Entry) => entry.resource.type === "service"],
      [`actor=${key!.actor.id}`, (entry: Entry) => entry.actor.id === key!.actor.id],
      ["actor=First%20key", (entry: Entry) => entry.actor.name === "First key"],
      ["actor=system", (entry: Entry) => entry.actor.type === "system"],
    ] as const) {
      const expected = all.filter(matches);
      expect(expected.length, query).toBeGreaterThan(0);
      expect((await read(`?limit=100&${query}`)).entries, query).toEqual(expected);
    }
    expect(await read("?action=nothing.done")).toEqual({ entries: [], next_cursor: null });
  });

  it("is paged without gap or repetition while it grows, entries of one moment too", async () => {
    await write(25, new Date("2027-01-31T12:00:00.123Z"));
    await write(3, new Date("2027-01-30T12:00:00.000Z"));
    const expected = (await read("?limit=100", { "x-api-key": other.apiKey })).entries.map(({ id }) => id);
    const met: string[] = [];
    let cursor: string | null = null;
    do {
      const page = await read(`?limit=10${cursor === null ? "" : `&cursor=${cursor}`}`, { "x-api-key": other.apiKey });
      met.push(...page.entries.map(({ id }) => id));
      cursor = page.next_cursor;
      await write(4, new Date("2027-02-01T12:00:00.000Z"));
    } while (cursor !== null);
    expect(met).toEqual(expected);
  });

  it("ends without a cursor when the last page is just full", async () => {
    const { entries } = await read("?limit=100");
    expect((await read(`?limit=${entries.length}`)).next_cursor).toBeNull();
  });

  it("takes only its own cursors, and one of another organization shows nothing of it", async () => {
    for (const cursor of ["nonsense", "", Buffer.from("1 x").toString("base64url"), Buffer.from(`99999999999999 ${newId()} or`).toString("base64url")]) {
      expect(await plane.call("GET", `/audit-log?cursor=${cursor}`)).toMatchObject({ status: 400, body: { code: "INVALID_REQUEST", path: "/cursor" } });
    }
    const foreign = (await read("?limit=1", { "x-api-key": other.apiKey })).next_cursor!;
    const own = new Set((await read("?limit=100")).entries.map(({ id }) => id));
    expect((await read(`?limit=100&cursor=${foreign}`)).entries.every(({ id }) => own.has(id))).toBe(true);
  });

  it("needs its scope", async () => {
    const { body } = await plane.call("POST", "/api-keys", { name: "reader", scopes: ["config:read"] });
    expect(await plane.call("GET", "/audit-log", undefined, { "x-api-key": body.key as string })).toMatchObject({ status: 403, body: { error: "Insufficient scope: audit_log:read required" } });
  });
});
