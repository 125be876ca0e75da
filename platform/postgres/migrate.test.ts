import { createServer, connect, type AddressInfo, type Server } from "node:net";
import { Writable } from "node:stream";
import { Client } from "pg";
import pino from "pino";
import { afterEach, describe, expect, test } from "vitest";
import { freshDatabase } from "../../testing/postgres.ts";
import { makeLog } from "../log.ts";
import { StartFailure } from "../start-failure.ts";
import { migrate } from "./migrate.ts";

const log = makeLog("silent");
let drops: (() => Promise<void>)[] = [];

afterEach(async () => {
  for (const drop of drops) await drop();
  drops = [];
});

async function emptyDatabase() {
  const fresh = await freshDatabase({ migrated: false });
  drops.push(fresh.drop);
  return fresh;
}

/** The sentence with which migrating fails. */
async function refusal(url: string): Promise<string> {
  const error: unknown = await migrate(url, log, { reachLimitMs: 100 }).then(() => null, (reason: unknown) => reason);
  expect(error).toBeInstanceOf(StartFailure);
  return (error as StartFailure).message;
}

/** The run's server behind a TCP address, as a DATABASE_URL has one. */
async function listenForServer(url: string, port: number): Promise<Server> {
  const socket = `${new Client({ connectionString: url }).host}/.s.PGSQL.5432`;
  const server = createServer((client) => {
    const upstream = connect(socket);
    client.pipe(upstream).pipe(client);
    client.on("error", () => upstream.destroy());
    upstream.on("error", () => client.destroy());
  });
  await new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve));
  return server;
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

function overTcp(url: string, port: number): string {
  const { user, password, database } = new Client({ connectionString: url });
  return `postgres://${user}:${password as string}@127.0.0.1:${port}/${database}`;
}

describe("migrate", () => {
  test("makes all tables in an empty database, and nothing the second time", async () => {
    const { url, database } = await emptyDatabase();
    expect((await migrate(url, log)).applied).toBeGreaterThan(1);
    expect(await migrate(url, log)).toEqual({ applied: 0 });
    expect((await database.$client.query("select count(*)::int as n from organizations")).rows).toEqual([{ n: 0 }]);
  });

  test("applies each migration once when several processes start together", async () => {
    const { url, database } = await emptyDatabase();
    const results = await Promise.all([1, 2, 3, 4].map(() => migrate(url, log)));
    expect(results.map(({ applied }) => applied > 0).toSorted()).toEqual([false, false, false, true]);
    const { rows } = await database.$client.query<{ all: number; distinct: number }>('select count(*)::int as "all", count(distinct hash)::int as "distinct" from drizzle.__drizzle_migrations');
    expect(rows[0]!.all).toBe(rows[0]!.distinct);
  });

  test("refuses a database that a newer Pharos has migrated, and changes nothing in it", async () => {
    const { url, database } = await emptyDatabase();
    await migrate(url, log);
    await database.$client.query("insert into drizzle.__drizzle_migrations (hash, created_at) values ('newer', 4102444800000)");
    expect(await refusal(url)).toBe("The database was migrated by a newer Pharos than this one. Start that version or a later one: migrations only go forward.");
  });

  test("changes nothing when a migration fails, and says which reason the database gave", async () => {
    const { url, database } = await emptyDatabase();
    await database.$client.query("create table organizations (id int)");
    expect(await refusal(url)).toContain('The database could not be migrated: relation "organizations" already exists. Nothing was changed.');
    const { rows } = await database.$client.query("select to_regclass('services') as services, (select count(*)::int from drizzle.__drizzle_migrations) as applied");
    expect(rows).toEqual([{ services: null, applied: 0 }]);
  });

  test("waits for a server that is still starting", async () => {
    const { url } = await emptyDatabase();
    const port = await freePort();
    let server: Server | null = null;
    // The server comes up once migrate has said that it waits.
    const words = new Writable({
      write(chunk: Buffer, _encoding, done) {
        if (server === null && chunk.toString().includes("waiting for the database")) void listenForServer(url, port).then((listening) => (server = listening));
        done();
      },
    });
    expect((await migrate(overTcp(url, port), pino(words))).applied).toBeGreaterThan(0);
    await new Promise((resolve) => server!.close(resolve));
  });

  test("says what is wrong with the address, never with the password", async () => {
    const { url } = await emptyDatabase();
    const { database } = new Client({ connectionString: url });
    const port = await freePort();
    const cases: [string, string][] = [
      [url.replace(/:[0-9a-f]+@/, ":hunter2@"), 'refuses the password of user "pharos". Correct DATABASE_URL.'],
      [url.replace(/pharos:[0-9a-f]+@/, "stranger:hunter2@"), 'refuses the password of user "stranger".'],
      [url.replace(`/${database}?`, "/elsewhere?"), 'has no database "elsewhere". Create it (create database "elsewhere") or correct DATABASE_URL.'],
      [`postgres://pharos:hunter2@127.0.0.1:${port}/pharos`, `PostgreSQL at 127.0.0.1:${port} cannot be reached: connect ECONNREFUSED`],
      ["postgres://pharos:hunter2@/pharos?host=/nowhere", "PostgreSQL at /nowhere cannot be reached: connect ENOENT"],
      ["postgres://pharos:hunter2@no-such-host.invalid/pharos", "PostgreSQL at no-such-host.invalid:5432 cannot be reached: getaddrinfo"],
      ["postgres://pharos:hunter2%zz@127.0.0.1:99999999/pharos", "DATABASE_URL cannot be read as a PostgreSQL address."],
    ];
    for (const [address, words] of cases) {
      const sentence = await refusal(address);
      expect(sentence).toContain(words);
      expect(sentence).not.toContain("hunter2");
    }
  });
});
