import { eq, getTableColumns, getTableName, is, sql } from "drizzle-orm";
import { PgTable } from "drizzle-orm/pg-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import * as tables from "../../schemas/tables/all.ts";
import { freshDatabase } from "../../testing/postgres.ts";
import { newId } from "../ids.ts";
import { makeLog } from "../log.ts";
import { inTransaction, inTransactionWithLast, postgresCode, type Transaction } from "./database.ts";
import { openTenants, type Tenants } from "./tenants.ts";

const { incidents, organizations, services } = tables;

let fresh: Awaited<ReturnType<typeof freshDatabase>>;
let tenants: Tenants;
const ids = Array.from({ length: 6 }, () => newId());
const [mine, other] = ids as [string, string];

beforeAll(async () => {
  fresh = await freshDatabase();
  // Fewer connections than organizations, so that each connection serves several in turn.
  tenants = openTenants(fresh.logins, 2, makeLog("silent"));
  await fresh.database.insert(organizations).values(ids.map((id) => ({ id, name: id, plan: "team" as const })));
  await fresh.database.insert(services).values(ids.map((organizationId) => ({ id: newId(), organizationId, name: organizationId })));
});
afterAll(async () => {
  await tenants.close();
  await fresh.drop();
});

describe("an organization's database", () => {
  it("shows a query without a condition its own rows alone, however many organizations share a connection", async () => {
    const asked = Array.from({ length: 300 }, (_, n) => ids[n % ids.length]!);
    const seen = await Promise.all(asked.map((id) => tenants.of(id).select({ name: services.name }).from(services)));
    expect(seen).toEqual(asked.map((name) => [{ name }]));
    const within = await Promise.all(asked.slice(0, 60).map((id) => inTransaction(tenants.of(id), (tx) => tx.select({ id: organizations.id }).from(organizations))));
    expect(within).toEqual(asked.slice(0, 60).map((id) => [{ id }]));
  });

  it("changes and deletes nothing of another, and takes nothing in another's name", async () => {
    const { rowCount: changed } = await tenants.of(mine).update(services).set({ name: "taken" }).where(eq(services.organizationId, other));
    const { rowCount: deleted } = await tenants.of(mine).delete(services).where(eq(services.organizationId, other));
    expect([changed, deleted]).toEqual([0, 0]);
    const refused = await tenants.of(mine).insert(services).values({ id: newId(), organizationId: other, name: "smuggled" }).catch((error: unknown) => postgresCode(error));
    expect(refused).toBe("42501");
    const moved = await tenants.of(mine).update(services).set({ organizationId: other }).catch((error: unknown) => postgresCode(error));
    expect(moved).toBe("42501");
    expect(await fresh.database.select({ name: services.name }).from(services).where(eq(services.organizationId, other))).toEqual([{ name: other }]);
  });

  it("goes on after a statement that failed, for whoever has the connection next", async () => {
    const failing = ids.flatMap((id) => [tenants.of(id).execute(sql`select 1 / 0`).catch((error: unknown) => postgresCode(error)), tenants.of(id).select({ name: services.name }).from(services)]);
    expect(await Promise.all(failing)).toEqual(ids.flatMap((name) => ["22012", [{ name }]]));
  });

  it("commits together with a last statement, and keeps nothing when that fails", async () => {
    const addOne = (last: (tx: Transaction) => Promise<unknown>) =>
      inTransactionWithLast(tenants.of(mine), async (tx) => {
        await tx.insert(services).values({ id: newId(), organizationId: mine, name: "before the last" });
        return () => last(tx);
      });
    const names = async () => (await tenants.of(mine).select({ name: services.name }).from(services)).map(({ name }) => name);
    const fails = addOne((tx) => tx.execute(sql`select 1 / 0`));
    expect(await fails.then(() => "done", postgresCode)).toBe("22012");
    expect(await names()).toEqual([mine]);
    expect(await addOne((tx) => tx.select({ id: organizations.id }).from(organizations))).toEqual([{ id: mine }]);
    expect(await names()).toEqual([mine, "before the last"]);
    await tenants.of(mine).delete(services).where(eq(services.name, "before the last"));
  });

  it("adds to the log of changes and never rewrites it, and does not reach what belongs to no tenant", async () => {
    const code = (statement: string) => tenants.of(mine).execute(sql.raw(statement)).then(() => "done", postgresCode);
    expect(await code("update audit_entries set action = 'x'")).toBe("42501");
    expect(await code("delete from audit_entries")).toBe("42501");
    expect(await code("select * from cursors")).toBe("42501");
    expect(await code("delete from organizations")).toBe("42501");
  });

  /** Whoever owns the database's catalogs hides the names; another server's owner may not. */
  it.each([{ hidden: true }, { hidden: false }])("leaves nothing in a connection for whoever has it next; names of statements hidden: $hidden", async ({ hidden }) => {
    await fresh.database.execute(sql.raw(`${hidden ? "revoke execute on function pg_prepared_statement() from" : "grant execute on function pg_prepared_statement() to"} pharos_tenant`));
    const alone = openTenants({ ...fresh.logins, statementsAreHidden: hidden }, 1, makeLog("silent"));
    try {
      const [evil, victim] = [alone.of(mine), alone.of(other)];
      const names = () => victim.select({ name: organizations.name }).from(organizations);
      // Until their statements have names.
      for (let n = 0; n < 8; n++) await Promise.all([evil.select({ name: organizations.name }).from(organizations), names()]);
      await evil.select({ name: organizations.name }).from(organizations);
      const { rows } = await evil.execute<{ name: string }>(sql`select name from pg_prepared_statements`).catch(() => ({ rows: [] }));
      expect(rows.length > 0).toBe(!hidden);
      for (const name of new Set([...rows.map((row) => row.name), "show organization", ...Array.from({ length: 50 }, (_, n) => `pharos ${n}`)])) {
        // What is not there costs the connection, and with it all that was left in it.
        if (rows.some((row) => row.name === name)) await evil.execute(sql.raw(`deallocate "${name}"`));
        await evil.execute(sql.raw(`prepare "${name}"(text) as update organizations set name = left($1, 200) where id = '${mine}' returning name`)).catch(() => undefined);
      }
      await evil.execute(sql`set statement_timeout = 1`);
      await evil.execute(sql`listen pharos_changes`);
      await evil.execute(sql`select pg_advisory_lock(42)`);
      expect(await names()).toEqual([{ name: other }]);
      expect(await alone.of(mine).select({ name: organizations.name }).from(organizations)).toEqual([{ name: mine }]);
      const { rows: [kept] } = await victim.execute(sql`select (select count(*)::int from pg_locks where locktype = 'advisory' and pid = pg_backend_pid()) as locks, (select count(*)::int from pg_listening_channels()) as channels, current_setting('statement_timeout') as timeout`);
      expect(kept).toEqual({ locks: 0, channels: 0, timeout: "30s" });
    } finally {
      await alone.close();
    }
  });

  it("throws away our prepared statements at the cost of one failure, and closes a transaction that was left open", async () => {
    const alone = openTenants(fresh.logins, 1, makeLog("silent"));
    try {
      const names = () => alone.of(other).select({ name: organizations.name }).from(organizations);
      for (let n = 0; n < 8; n++) await names();
      await alone.of(mine).execute(sql`deallocate all`);
      expect(await names().catch(postgresCode)).toBe("26000");
      expect(await names()).toEqual([{ name: other }]);
      const pidOf = async (id: string) => (await alone.of(id).execute<{ pid: number }>(sql`select pg_backend_pid() as pid`)).rows[0]!.pid;
      const pid = await pidOf(mine);
      await alone.of(mine).execute(sql`begin`);
      expect(await names()).toEqual([{ name: other }]);
      expect(await pidOf(other)).not.toBe(pid);
    } finally {
      await alone.close();
    }
  });

  it("cannot change its plan", async () => {
    const code = await tenants.of(mine).update(organizations).set({ plan: "team" }).then(() => "done", postgresCode);
    expect(code).toBe("42501");
  });

  it("cascades as usual when a parent is deleted", async () => {
    const [id, serviceId] = [newId(), newId()];
    const own = tenants.of(mine);
    await own.insert(services).values({ id: serviceId, organizationId: mine, name: "short-lived" });
    await own.insert(incidents).values({ id, organizationId: mine, title: "t", status: "resolved", severity: "minor", startedAt: new Date() });
    await own.insert(tables.incidentServices).values({ organizationId: mine, incidentId: id, serviceId });
    await own.delete(services).where(eq(services.id, serviceId));
    expect(await fresh.database.select().from(tables.incidentServices).where(eq(tables.incidentServices.incidentId, id))).toEqual([]);
  });
});

describe("a table that names an organization", () => {
  const named = Object.values(tables).filter((table) => is(table, PgTable)).filter((table) => "organizationId" in getTableColumns(table));

  it.each(named.map((table) => getTableName(table)))("%s is behind row-level security", async (name) => {
    const { rows } = await fresh.database.execute(sql`
      select relrowsecurity as secured, (select array_agg(polname::text order by polname) from pg_policy where polrelid = pg_class.oid) as policies from pg_class where oid = ${name}::regclass`);
    expect(rows).toEqual([{ secured: true, policies: ["application", "tenant"] }]);
  });
});
