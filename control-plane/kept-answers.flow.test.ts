import { sql } from "drizzle-orm";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { DEFAULT_THRESHOLDS } from "../schemas/thresholds.ts";
import { startTestControlPlane, type TestControlPlane } from "../testing/control-plane.ts";

let plane: TestControlPlane;
/** The same stores behind another process, as it were: what it changes is not told to the first. */
let elsewhere: TestControlPlane["database"];
beforeAll(async () => {
  plane = await startTestControlPlane();
  elsewhere = plane.database;
});
afterAll(() => plane.stop());

const shown = async (path: string) => (await plane.call("GET", path)).body;

describe("a list that is kept", () => {
  it.each([
    ["/services", "a service's status", sql`update services set status = 'maintenance'`],
    ["/services", "a new service", sql`insert into services (id, organization_id, name) select gen_random_uuid(), id, 'New' from organizations`],
    ["/services", "default thresholds", sql`update organizations set default_thresholds = ${JSON.stringify({ ...DEFAULT_THRESHOLDS, clears_to_recover: 9 })}::jsonb`],
    ["/incidents", "a service's name", sql`update services set name = name || '!'`],
    ["/incidents", "an incident", sql`update incidents set title = 'Other'`],
    ["/incidents", "an update", sql`insert into incident_updates (id, organization_id, incident_id, status, message) select gen_random_uuid(), organization_id, id, 'monitoring', 'More' from incidents`],
    ["/incidents", "an incident's services", sql`delete from incident_services`],
    ["/incidents", "an update that is gone", sql`delete from incident_updates where message = 'More'`],
    ["/incidents", "an incident that is gone", sql`delete from incidents`],
  ])("%s shows %s at once, whoever changed it", async (path, _what, change) => {
    if (!JSON.stringify(await shown("/incidents")).includes("Kept")) {
      await plane.call("POST", "/incidents", { title: "Kept", message: "First", services: [plane.organization.serviceId] });
    }
    const before = await shown(path);
    expect(await shown(path)).toEqual(before);
    await elsewhere.execute(change);
    const after = await shown(path);
    expect(after).not.toEqual(before);
    expect(await shown(path)).toEqual(after);
  });

  it("shows nothing of a change that was rolled back, and all of one that was not, also behind a savepoint", async () => {
    const before = await shown("/services");
    await elsewhere.transaction(async (tx) => {
      await tx.execute(sql`update services set description = 'never'`);
      tx.rollback();
    }).catch(() => undefined);
    expect(await shown("/services")).toEqual(before);
    await elsewhere.transaction(async (tx) => {
      await tx.transaction(async (inner) => {
        await inner.execute(sql`update services set description = 'never'`);
        inner.rollback();
      }).catch(() => undefined);
      await tx.execute(sql`update services set description = 'kept'`);
    });
    expect(JSON.stringify(await shown("/services"))).toContain('"description":"kept"');
  });

  it("shows each writer its own change right after its answer, while many write and read at once", async () => {
    await Promise.all(
      Array.from({ length: 8 }, async (_, writer) => {
        for (let turn = 0; turn < 5; turn++) {
          const title = `Writer ${writer}, turn ${turn}`;
          await plane.call("POST", "/incidents", { title, message: "m" });
          const { incidents } = (await shown("/incidents?limit=100")) as { incidents: { title: string }[] };
          expect(incidents.map((incident) => incident.title)).toContain(title);
        }
      }),
    );
  });

  it("is another for each organization, address and query", async () => {
    const other = await plane.createOrganization("team");
    const asOther = async (path: string) => (await plane.call("GET", path, undefined, { "x-api-key": other.apiKey })).body;
    expect(await asOther("/incidents")).toEqual({ incidents: [] });
    expect((await shown("/incidents?limit=1")).incidents).toHaveLength(1);
    expect(((await shown("/incidents?limit=3")).incidents as unknown[]).length).toBe(3);
    await plane.call("POST", "/services", { name: "Another" });
    const all = (await shown("/services")).services as unknown[];
    expect((await shown("/services?limit=1")).services).toEqual(all.slice(0, 1));
    expect((await shown("/services?offset=1&limit=1")).services).toEqual(all.slice(1, 2));
    expect((await shown("/services?limit=1&nothing=1")).services).toEqual(all.slice(0, 1));
    expect((await asOther("/services")).services).not.toEqual((await shown("/services")).services);
  });
});
