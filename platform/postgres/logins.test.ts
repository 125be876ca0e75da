import { Client } from "pg";
import { afterAll, beforeAll, describe, expect, inject, test } from "vitest";
import { organizations, services } from "../../schemas/tables/all.ts";
import { freshDatabase } from "../../testing/postgres.ts";
import { newId } from "../ids.ts";
import { makeLog } from "../log.ts";
import { StartFailure } from "../start-failure.ts";
import { postgresCode } from "./database.ts";
import { prepareLogins, type Logins } from "./logins.ts";
import { migrate } from "./migrate.ts";
import { openTenants, type Tenants } from "./tenants.ts";

const log = makeLog("silent");
let fresh: Awaited<ReturnType<typeof freshDatabase>>;
let logins: Logins;
const [mine, other] = [newId(), newId()];

beforeAll(async () => {
  fresh = await freshDatabase();
  // What holds for a database as a whole is not copied from the template.
  await migrate(fresh.url, log);
  logins = await prepareLogins({ url: fresh.url, log });
  await fresh.database.insert(organizations).values([mine, other].map((id) => ({ id, name: id, plan: "team" as const })));
  await fresh.database.insert(services).values([mine, other].map((organizationId) => ({ id: newId(), organizationId, name: organizationId })));
});
afterAll(() => fresh.drop());

async function connected<T>(url: string, work: (client: Client) => Promise<T>): Promise<T> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

/** What becomes of each statement, in one session: its SQLSTATE, or its rows. */
async function fates(client: Client, statements: string[]): Promise<unknown[]> {
  const found: unknown[] = [];
  for (const statement of statements) found.push(await client.query({ text: statement, rowMode: "array" }).then(({ rows }) => rows, postgresCode));
  return found;
}

const DENIED = "42501";
/** What neither login may do. */
const BEYOND = [
  "copy (select 1) to '/tmp/pharos-copy-test'",
  "copy (select 1) to program 'cat'",
  "copy organizations from '/etc/passwd'",
  "select pg_read_file('/etc/passwd')",
  "select lo_import('/etc/passwd')",
  "set role pharos",
  "set session authorization pharos",
  "create table mine (id int)",
  "create temporary table services (id int)",
  "create function mine() returns int language sql as 'select 1'",
  "create function pg_temp.mine() returns int language sql as 'select 1'",
  "create schema mine",
  "alter table services disable row level security",
  "drop policy tenant on services",
  "alter role current_user createrole",
  "grant pharos_application to current_user",
  "set session_replication_role = replica",
  "select key from pharos_private.tenant_key",
  "select key from pharos_private.login_key",
  "select rolpassword from pg_authid",
  "truncate services",
];

describe("the tenants' login", () => {
  let tenants: Tenants;
  beforeAll(() => void (tenants = openTenants(logins, 1, log)));
  afterAll(() => tenants.close());

  /** A session that is bound to `mine`, as a request's is. */
  async function bound<T>(work: (client: Client) => Promise<T>): Promise<T> {
    const client = await tenants.of(mine).$client.connect();
    try {
      return await work(client);
    } finally {
      client.release(true);
    }
  }

  test("reaches neither files nor other roles, and makes nothing", async () => {
    expect(Object.fromEntries((await bound((client) => fates(client, BEYOND))).map((fate, n) => [BEYOND[n], fate]))).toEqual(Object.fromEntries(BEYOND.map((statement) => [statement, DENIED])));
  });

  test.each(["set role none", "reset role", "set role pharos_tenant", "reset session authorization", "reset all", "set search_path = pg_temp, public"])("sees no more after `%s`", async (statement) => {
    const [, seen] = await bound((client) => fates(client, [statement, "select name from public.services"]));
    // `reset all` also unbinds the session.
    expect(seen).toEqual(statement === "reset all" ? "22P02" : [[mine]]);
  });

  test("does not switch row-level security off", async () => {
    expect(await bound((client) => fates(client, ["set row_security = off", "select name from services"]))).toEqual([[], DENIED]);
  });

  test("reads no table that has no policy for it", async () => {
    expect(await bound((client) => fates(client, ["select * from cursors", "select * from removals", "select * from floods", "select * from drizzle.__drizzle_migrations"]))).toEqual([DENIED, DENIED, DENIED, DENIED]);
  });

  test("binds itself to no other organization: the setting needs a proof", async () => {
    const [given] = await bound((client) => fates(client, ["select current_setting('pharos.organization')"]));
    const proof = (given as string[][])[0]![0]!.slice(37);
    expect(proof).toMatch(/^[0-9a-f]{64}$/);
    for (const forged of [other, `${other} `, `${other} ${proof}`, `${other} ${"0".repeat(64)}`, `${other.toUpperCase()} ${proof}`]) {
      const seen = await bound((client) => fates(client, [`select set_config('pharos.organization', '${forged}', false)`, "select name from services", "insert into services (id, organization_id, name) select gen_random_uuid(), id, 'x' from organizations", "delete from services"]));
      expect(seen, forged).toEqual([[[forged]], DENIED, DENIED, DENIED]);
    }
  });

  test("finds no key of another organization in what other sessions do", async () => {
    await tenants.of(other).select().from(services);
    const [seen] = await bound((client) => fates(client, ["select query from pg_stat_activity"]));
    expect(JSON.stringify(seen)).not.toContain(other);
    expect(logins.statementsAreHidden).toBe(true);
    expect(await bound((client) => fates(client, ["select name from pg_prepared_statements", "select name from pg_prepared_statement()"]))).toEqual([DENIED, DENIED]);
  });

  test("is bound to the next organization whatever a session was made to show", async () => {
    await tenants.of(mine).execute("select set_config('pharos.organization', 'nonsense', false)");
    expect(await tenants.of(other).select({ name: services.name }).from(services)).toEqual([{ name: other }]);
  });
});

describe("the application's login", () => {
  test("reads and writes the rows of all organizations", async () => {
    await connected(logins.application, async (client) => {
      expect((await fates(client, ["select name from services order by name"]))[0]).toEqual([[mine], [other]].toSorted());
      expect(await fates(client, ["update services set description = 'x'", "select count(*)::int from cursors"])).toEqual([[], [[0]]]);
    });
  });

  test("reaches neither files nor other roles, and makes nothing", async () => {
    const seen = await connected(logins.application, (client) => fates(client, BEYOND));
    expect(Object.fromEntries(seen.map((fate, n) => [BEYOND[n], fate]))).toEqual(Object.fromEntries(BEYOND.map((statement) => [statement, DENIED])));
  });
});

describe("prepareLogins", () => {
  test("gives every process the same logins, and them their passwords again", async () => {
    expect(await Promise.all([1, 2, 3].map(() => prepareLogins({ url: fresh.url, log })))).toEqual([logins, logins, logins]);
    const user = new Client({ connectionString: logins.tenant }).user!;
    await fresh.database.execute(`alter role ${user} password 'of a copy'`);
    expect(await prepareLogins({ url: fresh.url, log })).toEqual(logins);
    await connected(logins.tenant, (client) => client.query("select 1"));
  });

  test("needs no superuser: an owner that may create roles is enough", async () => {
    const { owner, url, drop } = await ownDatabase("createrole");
    try {
      await migrate(url, log);
      const own = await prepareLogins({ url, log });
      expect(own.statementsAreHidden).toBe(false);
      expect(await connected(own.application, (client) => fates(client, ["select count(*)::int from organizations", "create temporary table t (id int)"]))).toEqual([[[0]], DENIED]);
      const tenants = openTenants(own, 1, log);
      expect(await tenants.of(mine).select().from(organizations)).toEqual([]);
      await tenants.close();
      expect(owner).toMatch(/^owner_/);
    } finally {
      await drop();
    }
  });

  test("takes logins that an operator made, and says how where it may not make its own", async () => {
    const { owner, url, server, drop } = await ownDatabase("");
    const [application, tenant] = [`app_${owner}`, `tenant_${owner}`];
    try {
      await migrate(url, log);
      expect(await refusal(prepareLogins({ url, log }))).toMatch(/^User "owner_\w+" of DATABASE_URL cannot make the login .*: permission denied to create role\. Give it the right .* set DATABASE_APPLICATION_URL and DATABASE_TENANT_URL/);
      await server(`create role ${application} login password 'a' in role pharos_application`);
      await server(`create role ${tenant} login password 't' in role pharos_tenant`);
      const given = { application: as(url, application, "a"), tenant: as(url, tenant, "t") };
      expect(await prepareLogins({ url, given, log })).toMatchObject(given);
      expect(await refusal(prepareLogins({ url, given: { ...given, tenant: as(url, tenant, "wrong") }, log }))).toContain(`refuses the password of user "${tenant}". Correct DATABASE_TENANT_URL.`);
      await server(`grant pharos_application to ${tenant}`);
      expect(await refusal(prepareLogins({ url, given, log }))).toContain("may do more than it should: it is also a member of pharos_application.");
      await server(`revoke pharos_application from ${tenant}; alter role ${tenant} bypassrls`);
      expect(await refusal(prepareLogins({ url, given, log }))).toContain("it is a superuser, creates roles or passes row-level security");
      await server(`grant pharos_application to ${owner}`);
      expect(await refusal(prepareLogins({ url, given: { ...given, application: url }, log }))).toContain("it owns the tables");
    } finally {
      await drop(application, tenant);
    }
  });
});

const as = (url: string, user: string, password: string) => url.replace(/\/\/[^@]*@/, `//${user}:${password}@`);

async function refusal(asked: Promise<unknown>): Promise<string> {
  const error: unknown = await asked.then(() => null, (reason: unknown) => reason);
  expect(error).toBeInstanceOf(StartFailure);
  return (error as StartFailure).message;
}

/** An empty database of a role that is no superuser, as managed servers give one. */
async function ownDatabase(rights: string) {
  const serverUrl = inject("postgresUrl");
  const owner = `owner_${newId().replaceAll("-", "")}`;
  const server = (statement: string) => connected(serverUrl, (client) => client.query(statement));
  await server(`create role ${owner} login password 'owner' ${rights}`);
  // Made by the run's superuser; a server of one's own has them from this owner.
  await server(`grant pharos_application, pharos_tenant to ${owner} with admin option`);
  await server(`create database ${owner} owner ${owner} template template0`);
  return {
    owner,
    server,
    url: as(serverUrl, owner, "owner").replace("/pharos?", `/${owner}?`),
    async drop(...roles: string[]) {
      await server(`drop database ${owner} with (force)`);
      for (const role of [`${owner}_application_login`, `${owner}_tenant_login`, ...roles, owner]) await server(`drop role if exists ${role}`);
    },
  };
}
