import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from "vitest";
import { makeLog } from "../log.ts";
import { StartFailure } from "../start-failure.ts";
import { checkPostgresDurability } from "./check-durability.ts";
import { openDatabase, type Database } from "./database.ts";
import { startEmbeddedPostgres, type EmbeddedPostgres } from "./embedded.ts";

const log = makeLog("silent");
let folder: string;
let server: EmbeddedPostgres;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "pharos-durability-"));
  server = await startEmbeddedPostgres({ folder, log });
});
afterAll(async () => {
  await server.stop();
  await rm(folder, { recursive: true, force: true });
});

/** New connections, as a start makes them: a setting of the database counts for those only. */
async function withDatabase<T>(work: (database: Database) => Promise<T>): Promise<T> {
  const database = openDatabase(server.url, 4, log);
  try {
    return await work(database);
  } finally {
    await database.$client.end();
  }
}

const check = (): Promise<void> => withDatabase((database) => checkPostgresDurability(database, log));
const run = (statement: string): Promise<unknown> => withDatabase((database) => database.$client.query(statement));

/** Sets it on the server, and waits until new sessions have it. */
async function setOnServer(name: string, value: string): Promise<void> {
  await run(`ALTER SYSTEM SET ${name} = ${value}`);
  await run("SELECT pg_reload_conf()");
  const read = () =>
    withDatabase(async ({ $client }) => {
      const { rows } = await $client.query<{ setting: string }>("SELECT current_setting($1) AS setting", [name]);
      return rows[0]!.setting;
    });
  await expect.poll(read).toBe(value.replaceAll("'", ""));
}

test("the embedded server keeps what it confirms", async () => {
  await expect(check()).resolves.toBeUndefined();
});

test.each(["fsync", "full_page_writes"])("%s = off refuses the start", async (name) => {
  await setOnServer(name, "off");
  onTestFinished(() => setOnServer(name, "on"));
  await expect(check()).rejects.toThrow(StartFailure);
  await expect(check()).rejects.toThrow(`${name} is off for database "pharos" and must be on. Run ALTER SYSTEM SET ${name} = on; SELECT pg_reload_conf();`);
});

test("synchronous_commit = off refuses the start, also when only the database or the user says it", async () => {
  for (const [set, reset] of [
    ["ALTER DATABASE pharos SET synchronous_commit = off", "ALTER DATABASE pharos RESET synchronous_commit"],
    ["ALTER USER CURRENT_USER SET synchronous_commit = off", "ALTER USER CURRENT_USER RESET synchronous_commit"],
  ] as const) {
    await run(set);
    await expect(check()).rejects.toThrow('synchronous_commit is off for database "pharos" and must be on. Run ALTER DATABASE "pharos" SET synchronous_commit = on;');
    await run(reset);
    await expect(check()).resolves.toBeUndefined();
  }
});

test.each(["local", "remote_write", "remote_apply"])("synchronous_commit = %s has a commit on the disk", async (value) => {
  await run(`ALTER DATABASE pharos SET synchronous_commit = ${value}`);
  onTestFinished(async () => void (await run("ALTER DATABASE pharos RESET synchronous_commit")));
  await expect(check()).resolves.toBeUndefined();
});

test("local is warned of where a synchronous standby is named", async () => {
  const warn = vi.spyOn(log, "warn").mockReturnValue(undefined);
  onTestFinished(() => warn.mockRestore());
  await run("ALTER DATABASE pharos SET synchronous_commit = local");
  await check();
  expect(warn).not.toHaveBeenCalled();
  await setOnServer("synchronous_standby_names", "standby");
  await check();
  expect(warn).toHaveBeenCalledWith(expect.stringContaining("synchronous_commit is local although"));
  await setOnServer("synchronous_standby_names", "''");
});
