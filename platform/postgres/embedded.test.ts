import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { chmod, chown, mkdir, mkdtemp, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { Client } from "pg";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { findOrdinaryUser, runModule } from "../../testing/run-module.ts";
import { makeLog } from "../log.ts";
import { StartFailure } from "../start-failure.ts";
import { startEmbeddedPostgres } from "./embedded.ts";

const log = makeLog("silent");
let parent: string;
/** One server's folder for all tests of this file, because making one takes a second. */
let folder: string;

beforeAll(async () => {
  parent = await mkdtemp(join(tmpdir(), "pharos-embedded-"));
  folder = join(parent, "data", "postgres");
  const server = await startEmbeddedPostgres({ folder, log });
  await query(server.url, "create table notes (text text)");
  await server.stop();
});

afterAll(() => rm(parent, { recursive: true, force: true }));

async function query(url: string, statement: string): Promise<Record<string, unknown>[]> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query<Record<string, unknown>>(statement)).rows;
  } finally {
    await client.end();
  }
}

async function refusal(of: string = folder): Promise<string> {
  const error: unknown = await startEmbeddedPostgres({ folder: of, log }).then((server) => server.stop(), (reason: unknown) => reason);
  expect(error).toBeInstanceOf(StartFailure);
  return (error as StartFailure).message;
}

const startAndPrint = (folder: string) => `
  import { startEmbeddedPostgres } from "./platform/postgres/embedded.ts";
  import { makeLog } from "./platform/log.ts";
  try {
    const server = await startEmbeddedPostgres({ folder: ${JSON.stringify(folder)}, log: makeLog("silent") });
    const told = new Promise((resolve) => process.once("SIGTERM", resolve));
    console.log("started " + server.url);
    await told;
    await server.stop();
  } catch (error) {
    console.log(error.name + ": " + error.message);
  }`;

describe("The embedded PostgreSQL", () => {
  test("answers on a Unix socket in a closed folder only, with a password, in UTF-8, and writes durably", async () => {
    const server = await startEmbeddedPostgres({ folder, log });
    const settings = await query(server.url, "select name, setting from pg_settings where name in ('fsync', 'full_page_writes', 'listen_addresses', 'synchronous_commit', 'server_encoding')");
    expect(Object.fromEntries(settings.map(({ name, setting }) => [name, setting]))).toEqual({ fsync: "on", full_page_writes: "on", listen_addresses: "", synchronous_commit: "on", server_encoding: "UTF8" });
    expect(await query(server.url, "select lower('ÄÖÜ') as lower, 'a' > 'B' as by_code_point")).toEqual([{ lower: "äöü", by_code_point: true }]);
    for (const path of [folder, join(folder, "socket"), join(folder, "data")]) expect((await stat(path)).mode & 0o777, path).toBe(0o700);
    expect((await stat(join(folder, "password"))).mode & 0o777).toBe(0o600);
    await expect(query(server.url.replace(/:[0-9a-f]+@/, ":wrong@"), "select 1")).rejects.toMatchObject({ code: "28P01" });
    await server.stop();
    expect(await server.exited).toContain("PostgreSQL ended (exit code 0)");
    expect(existsSync(join(folder, "socket"))).toBe(false);
  });

  test("keeps what was committed when Pharos is killed, and starts again at once", async () => {
    const killed = runModule(startAndPrint(folder));
    const url = /started (\S+)/.exec(await killed.printed("postgres://"))![1]!;
    await query(url, "insert into notes values ('before the kill')");
    killed.child.kill("SIGKILL");
    await killed.ended();
    const server = await startEmbeddedPostgres({ folder, log });
    expect(await query(server.url, "select text from notes")).toEqual([{ text: "before the kill" }]);
    await server.stop();
  });

  test("stops a server that still runs on its folder, cleanly, although a client is connected", async () => {
    const orphan = await startEmbeddedPostgres({ folder, log });
    const client = new Client({ connectionString: orphan.url });
    client.on("error", () => undefined);
    await client.connect();
    await client.query("insert into notes values ('from the orphan')");
    const server = await startEmbeddedPostgres({ folder, log });
    expect(await orphan.exited).toContain("exit code 0");
    expect(await query(server.url, "select count(*)::int as notes from notes where text = 'from the orphan'")).toEqual([{ notes: 1 }]);
    await server.stop();
  });

  test("leaves a process of another program alone whose id stands in an old pid file", async () => {
    const bystander = spawn(process.execPath, ["-e", "setInterval(() => {}, 1000)"]);
    const pidFile = join(folder, "data", "postmaster.pid");
    await writeFile(pidFile, `${bystander.pid}\n${join(folder, "data")}\n1700000000\n5432\n${join(folder, "socket")}\n\n    123456    654321\nready   \n`, { mode: 0o600 });
    const { uid, gid } = await stat(join(folder, "data"));
    await chown(pidFile, uid, gid);
    const server = await startEmbeddedPostgres({ folder, log });
    expect(await query(server.url, "select 1 as one")).toEqual([{ one: 1 }]);
    expect(bystander.exitCode ?? bystander.signalCode).toBeNull();
    await server.stop();
    bystander.kill();
    await once(bystander, "exit");
  });

  test("tells when it ends unasked, and recovers what was committed", async () => {
    const server = await startEmbeddedPostgres({ folder, log });
    await query(server.url, "insert into notes values ('before the crash')");
    process.kill(Number.parseInt(await readFile(join(folder, "data", "postmaster.pid"), "utf8"), 10), "SIGKILL");
    expect(await server.exited).toBe(`PostgreSQL ended (SIGKILL); ${join(folder, "server.log")} says why.`);
    const again = await startEmbeddedPostgres({ folder, log });
    expect(await query(again.url, "select text from notes where text = 'before the crash'")).toHaveLength(1);
    again.abandon();
    await again.exited;
  });

  test("begins afresh when an earlier first start was killed halfway", async () => {
    const half = join(parent, "half", "postgres");
    await mkdir(join(half, "data.unfinished", "base"), { recursive: true });
    await mkdir(join(half, "data"));
    const server = await startEmbeddedPostgres({ folder: half, log });
    expect(await query(server.url, "select current_database() as name")).toEqual([{ name: "pharos" }]);
    await server.stop();
  });

  test("puts its socket elsewhere when the folder's path is too long for one, and takes it away again", async () => {
    const long = join(parent, "x".repeat(100));
    await mkdir(long);
    await rename(folder, join(long, "postgres"));
    const server = await startEmbeddedPostgres({ folder: join(long, "postgres"), log });
    const [row] = await query(server.url, "select current_setting('unix_socket_directories') as socket");
    const socket = row!.socket as string;
    expect(dirname(socket)).toBe(tmpdir());
    expect((await stat(socket)).mode & 0o777).toBe(0o700);
    await server.stop();
    expect(existsSync(socket)).toBe(false);
    await rename(join(long, "postgres"), folder);
  });

  test("ends, when Pharos gives up starting, with what to do and its own last words", async () => {
    const control = join(folder, "data", "global", "pg_control");
    await rename(control, `${control}.away`);
    const sentence = await refusal();
    expect(sentence).toContain(`The embedded PostgreSQL on ${folder} does not start. Its files are damaged: restore the data folder from a backup, or move it away`);
    expect(sentence).toMatch(/\n {2}\| .*pg_control/);
    await rename(`${control}.away`, control);
  });

  test("refuses data of another version, and a folder that is none", async () => {
    const version = join(folder, "data", "PG_VERSION");
    const known = await readFile(version);
    await writeFile(version, "17\n");
    expect(await refusal()).toContain("was made by PostgreSQL 17; this Pharos brings PostgreSQL 18. Start it with the Pharos that made it");
    await rename(version, `${version}.away`);
    expect(await refusal()).toContain("is damaged or holds something else: it has no readable PG_VERSION");
    await rename(`${version}.away`, version);
    await writeFile(version, known);
    await writeFile(join(parent, "file"), "");
    expect(await refusal(join(parent, "file", "postgres"))).toContain("for PostgreSQL cannot be made (ENOTDIR");
  });
});

/** Root starts it as another user; an ordinary user's start is what all tests above show when run as one. */
const ordinary = findOrdinaryUser();
if (ordinary) {
  describe("Run by root and by an ordinary user", () => {
    test("it works for an ordinary user in a folder of their own, and for root in that folder afterwards", async () => {
      const home = join(parent, "home");
      await mkdir(home);
      await chown(home, ordinary.uid, ordinary.gid);
      await chmod(parent, 0o755);
      const own = join(home, "data", "postgres");
      for (const user of [ordinary, null, ordinary]) {
        const running = runModule(startAndPrint(own), user);
        const url = /started (\S+)/.exec(await running.printed("postgres://"))![1]!;
        expect(await query(url, "select current_user as name")).toEqual([{ name: "pharos" }]);
        running.child.kill("SIGTERM");
        expect((await running.ended()).code).toBe(0);
        expect((await stat(join(own, "data"))).uid).toBe(ordinary.uid);
      }
    });

    test("an ordinary user hears in a sentence that root's folder is not theirs", async () => {
      await chmod(parent, 0o755);
      await chmod(dirname(folder), 0o755);
      const { output } = await runModule(startAndPrint(folder), ordinary).ended();
      expect(output).toContain(`StartFailure: The embedded PostgreSQL cannot run on ${folder}. Make the folder yours`);
      expect(output).not.toMatch(/\n\s+at /);
    });

    test("root may keep it below a folder that is closed to everybody else, also after a copy by root", async () => {
      const closed = join(parent, "closed");
      await mkdir(closed, { mode: 0o700 });
      const moved = join(closed, "postgres");
      await rename(folder, moved);
      await chown(join(moved, "data", "PG_VERSION"), 0, 0);
      const server = await startEmbeddedPostgres({ folder: moved, log });
      expect(await query(server.url, "select 1 as one")).toEqual([{ one: 1 }]);
      // The server passes the closed folder and writes nothing into it, whatever its superuser asks; nor does what it runs.
      for (const target of [`to '${closed}/copied'`, `to program 'cat > ${closed}/copied'`]) await expect(query(server.url, `copy (select 1) ${target}`)).rejects.toThrow(/Permission denied|failed/);
      expect(existsSync(join(closed, "copied"))).toBe(false);
      const pid = Number.parseInt(await readFile(join(moved, "data", "postmaster.pid"), "utf8"), 10);
      const status = await readFile(`/proc/${pid}/status`, "utf8");
      // Bit 2 is CAP_DAC_READ_SEARCH.
      for (const set of ["CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"]) expect(status).toMatch(new RegExp(`${set}:\\s+0*4\n`));
      expect(status).toMatch(/NoNewPrivs:\s+1\n/);
      await server.stop();
      expect((await stat(join(moved, "data", "PG_VERSION"))).uid).not.toBe(0);
      await rename(moved, folder);
    });
  });
}
