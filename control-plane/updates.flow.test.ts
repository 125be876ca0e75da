import { sql } from "drizzle-orm";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { newId } from "../platform/ids.ts";
import { UPDATES_OF_ONE, UPDATES_SHOWN } from "../schemas/plans.ts";
import { startTestControlPlane, type TestControlPlane } from "../testing/control-plane.ts";

const { number: SHOWN, bytesOfOne, bytesOfAll } = UPDATES_SHOWN;

interface Told {
  id: string;
  updates: { id: string; message: string; created_at: string }[];
  updates_total: number;
}

let plane: TestControlPlane;
beforeAll(async () => {
  plane = await startTestControlPlane();
});
afterAll(() => plane.stop());

const bytesOf = ({ updates }: Pick<Told, "updates">) => updates.reduce((sum, { message }) => sum + Buffer.byteLength(message), 0);

describe.each([
  { path: "/incidents", list: "incidents", body: { title: "Long" }, table: "incident_updates", column: "incident_id", status: "investigating" },
  { path: "/maintenance-windows", list: "maintenance_windows", body: { title: "Long", starts_at: "2999-01-01T00:00:00Z", ends_at: "2999-01-01T01:00:00Z" }, table: "maintenance_updates", column: "maintenance_window_id", status: "scheduled" },
])("updates at $path", ({ path, list, body, table, column, status }) => {
  const make = async () => (await plane.call("POST", path, body)).body as unknown as Told;
  const get = async (at: string) => (await plane.call("GET", at)).body;
  /** Of one, each a second after the one before, the last one a minute ago. */
  const write = (id: string, count: number, text: string) =>
    plane.database.execute(sql`
      insert into ${sql.identifier(table)} (id, organization_id, ${sql.identifier(column)}, status, message, created_at)
      select gen_random_uuid(), ${plane.organization.organizationId}, ${id}, ${sql.raw(`'${status}'`)}, n || ' ' || ${text}::text, now() - interval '1 minute' - (${count}::int - n) * interval '1 second'
      from generate_series(1, ${count}::int) as n`);

  it("are all shown while they are few", async () => {
    const { id, ...made } = await make();
    expect(made).toMatchObject({ updates: [], updates_total: 0 });
    await write(id, SHOWN - 1, "m");
    const { body: told } = await plane.call("POST", `${path}/${id}/updates`, { message: "The last" });
    expect(told.updates).toHaveLength(SHOWN);
    expect(told).toMatchObject({ updates_total: SHOWN });
    expect((told as unknown as Told).updates.slice(0, 2)).toMatchObject([{ message: "The last" }, { message: `${SHOWN - 1} m` }]);
    expect(await get(`${path}/${id}`)).toEqual(told);
    expect((await get(`${path}?limit=100`))[list]).toContainEqual(told);
  });

  it("are the newest where there are many, and a page of its own gives all", async () => {
    const { id } = await make();
    await write(id, UPDATES_OF_ONE, "m");
    const told = (await get(`${path}/${id}`)) as unknown as Told;
    expect(told.updates.map(({ message }) => message)).toEqual(Array.from({ length: SHOWN }, (_, n) => `${UPDATES_OF_ONE - n} m`));
    expect(told.updates_total).toBe(UPDATES_OF_ONE);
    expect((await get(`${path}/${id}/updates?limit=100`)).updates).toEqual(told.updates);
    const last = await get(`${path}/${id}/updates?limit=3&offset=998`);
    expect(last).toMatchObject({ updates: [{ message: "2 m" }, { message: "1 m" }], total: UPDATES_OF_ONE });
    expect((await get(`${path}/${id}/updates`)).updates).toHaveLength(50);
    expect(await get(`${path}/${id}/updates?offset=5000`)).toEqual({ updates: [], total: UPDATES_OF_ONE });
    await plane.call("DELETE", `${path}/${id}`);
  });

  it("are the newest of a number of bytes where they are long, and fewer where a list is of many such", async () => {
    const made: string[] = [];
    while (made.length < 20) made.push((await make()).id);
    for (const id of made) await write(id, SHOWN, "\u0001".repeat(9_990));
    const one = (await get(`${path}/${made[0]}`)) as unknown as Told;
    expect(one).toMatchObject({ updates_total: SHOWN });
    expect(bytesOf(one)).toBeLessThanOrEqual(bytesOfOne);
    expect(bytesOf(one)).toBeGreaterThan(bytesOfOne - 10_000);
    const all = ((await get(`${path}?limit=20`))[list] as Told[]).filter(({ id }) => made.includes(id));
    expect(all.every(({ updates, updates_total: total }) => updates.length >= 1 && total === SHOWN)).toBe(true);
    expect(all[0]).toMatchObject({ updates: { length: one.updates.length } });
    expect(all.at(-1)!.updates.map(({ message }) => message.slice(0, 4))).toEqual(["100 "]);
    expect(all.reduce((sum, each) => sum + bytesOf(each), 0)).toBeLessThanOrEqual(bytesOfAll + all.length * 10_000);
  });

  it("are so few in an answer that it is kept for an Idempotency-Key", async () => {
    const { id } = await make();
    await write(id, UPDATES_OF_ONE - 1, "m\n\"".repeat(3_300));
    const send = () => plane.call("POST", `${path}/${id}/updates`, { message: "The last" }, { "idempotency-key": `last of ${id}` });
    const first = await send();
    expect(first).toMatchObject({ status: 201, body: { updates_total: UPDATES_OF_ONE } });
    const again = await send();
    expect({ status: again.status, body: again.body }).toEqual({ status: 201, body: first.body });
    expect(again.headers["idempotency-replayed"]).toBe("true");
  });

  it("of what is not there are not found", async () => {
    const { id } = await make();
    const other = await plane.createOrganization("team");
    for (const [missing, apiKey] of [["nonsense", plane.organization.apiKey], [newId(), plane.organization.apiKey], [id, other.apiKey]] as const) {
      expect(await plane.call("GET", `${path}/${missing}/updates`, undefined, { "x-api-key": apiKey })).toMatchObject({ status: 404, body: { code: "NOT_FOUND" } });
    }
    expect(await plane.call("GET", `${path}/${id}/updates`)).toMatchObject({ status: 200, body: { updates: [], total: 0 } });
  });
});
