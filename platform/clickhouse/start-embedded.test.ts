import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { makeLog } from "../log.ts";
import { LOADER_ARGUMENTS, moduleFile } from "../root.ts";
import { StartFailure } from "../start-failure.ts";
import { openClickHouse } from "./client.ts";
import { migrateClickHouse } from "./migrate.ts";
import { startEmbeddedClickHouse } from "./start-embedded.ts";

const log = makeLog("silent");
let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "pharos clickhouse {it's,*} "));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

test("what was inserted is there after a stop and a start, in a folder with an awkward name", async () => {
  const first = await startEmbeddedClickHouse({ folder, log });
  await migrateClickHouse(first.url, log);
  const store = openClickHouse(first.url, log);
  const inserts = Array.from({ length: 5 }, (_each, index) => store.insert("metric_samples", [{ name: `n${index}`, value: index, received_at: new Date() }], {}));
  await Promise.all(inserts);
  await store.close();
  await first.stop();
  expect(await first.exited).toBe("The embedded ClickHouse ended with code 0.");
  expect(isAlive(first.pid)).toBe(false);

  const second = await startEmbeddedClickHouse({ folder, log });
  const reopened = openClickHouse(second.url, log);
  expect(await reopened.query("SELECT name, value FROM metric_samples ORDER BY value")).toEqual(Array.from({ length: 5 }, (_each, index) => ({ name: `n${index}`, value: index })));
  await reopened.close();
  await second.stop();
});

test("a stop lets running statements end", async () => {
  const engine = await startEmbeddedClickHouse({ folder, log });
  await migrateClickHouse(engine.url, log);
  const store = openClickHouse(engine.url, log);
  const slow = store.query("SELECT sum(sleepEachRow(0.1)) AS slept FROM numbers(10) SETTINGS max_block_size = 1");
  await expect.poll(() => store.query("SELECT 1 FROM system.processes WHERE query LIKE '%sleepEachRow(0.1)%' AND query NOT LIKE '%processes%'"), { timeout: 20_000 }).toHaveLength(1);
  await engine.stop();
  expect(await slow).toEqual([{ slept: "0" }]);
  await store.close();
});

test("when Pharos is killed its engine ends by itself, and a start right after finds every confirmed row", { timeout: 90_000 }, async () => {
  const parent = spawnParent(folder);
  const { url, pid } = await reportOf(parent);
  const store = openClickHouse(url, log);
  let confirmed = 0;
  const inserting = (async () => {
    for (;;) {
      await store.insert("metric_samples", [{ name: "n", value: confirmed, received_at: new Date() }], {});
      confirmed++;
    }
  })().catch(() => undefined);
  await expect.poll(() => confirmed, { timeout: 20_000 }).toBeGreaterThan(5);
  parent.kill("SIGKILL");
  const successor = await startEmbeddedClickHouse({ folder, log });
  await inserting;
  await store.close();
  await expect.poll(() => isAlive(pid), { timeout: 20_000 }).toBe(false);
  const reopened = openClickHouse(successor.url, log);
  const [row] = await reopened.query<{ rows: string }>("SELECT count() AS rows FROM metric_samples");
  // One more may have been written and not confirmed.
  expect([confirmed, confirmed + 1]).toContain(Number(row!.rows));
  expect(await readdir(join(folder, "inserts"))).toEqual([]);
  await reopened.close();
  await successor.stop();
});

test("one folder has one engine at a time", async () => {
  const holder = await startEmbeddedClickHouse({ folder, log });
  await expect(startEmbeddedClickHouse({ folder, log, lockWaitMs: 100 })).rejects.toThrow(`The ClickHouse data in ${folder} is held by another process. Stop the other Pharos, or choose another PHAROS_DATA_DIR.`);
  await holder.stop();
});

test("a folder that cannot be used is named, with what to do", async () => {
  const file = join(folder, "file");
  await writeFile(file, "");
  const failure = await startEmbeddedClickHouse({ folder: file, log }).catch((error: unknown) => error);
  expect(failure).toBeInstanceOf(StartFailure);
  expect(String(failure)).toContain(`The ClickHouse data folder ${file} cannot be used`);
});

test("damaged files are a sentence, not a stack", async () => {
  const engine = await startEmbeddedClickHouse({ folder, log });
  await migrateClickHouse(engine.url, log);
  await engine.stop();
  const metadata = (await readdir(join(folder, "engine"), { recursive: true })).filter((name) => name.endsWith(".sql"));
  for (const name of metadata) await writeFile(join(folder, "engine", name), "\0 damaged");
  const failure = await startEmbeddedClickHouse({ folder, log }).catch((error: unknown) => error);
  expect(failure).toBeInstanceOf(StartFailure);
  expect((failure as Error).message).toContain(`The embedded ClickHouse cannot start on ${folder}`);
  expect((failure as Error).message).toContain("restore the folder from a backup");
});

test("rows that a killed engine had not yet inserted are removed at the next start", async () => {
  const first = await startEmbeddedClickHouse({ folder, log });
  await first.stop();
  await writeFile(join(folder, "inserts", "left.rows"), "{}");
  const second = await startEmbeddedClickHouse({ folder, log });
  expect(await readdir(join(folder, "inserts"))).toEqual([]);
  await second.stop();
});

test("the password is in no command line", async () => {
  const engine = await startEmbeddedClickHouse({ folder, log });
  const commandLine = await readFile(`/proc/${engine.pid}/cmdline`, "utf8").catch(() => "");
  expect(commandLine).not.toContain(new URL(engine.url).password);
  await engine.stop();
});

/** A process that starts an engine, tells its address, and waits. */
function spawnParent(data: string): ChildProcess {
  const module = (name: string): string => JSON.stringify(moduleFile(name, import.meta.url));
  const program = `
    const { startEmbeddedClickHouse } = await import(${module("./start-embedded.ts")});
    const { migrateClickHouse } = await import(${module("./migrate.ts")});
    const { makeLog } = await import(${module("../log.ts")});
    const engine = await startEmbeddedClickHouse({ folder: ${JSON.stringify(data)}, log: makeLog("silent") });
    await migrateClickHouse(engine.url, makeLog("silent"));
    process.send({ url: engine.url, pid: engine.pid });
    setInterval(() => undefined, 1_000);`;
  return spawn(process.execPath, [...LOADER_ARGUMENTS, "--input-type=module", "--eval", program], { stdio: ["ignore", "inherit", "inherit", "ipc"] });
}

async function reportOf(parent: ChildProcess): Promise<{ url: string; pid: number }> {
  const [report] = (await once(parent, "message")) as [{ url: string; pid: number }];
  return report;
}

/** A process that has ended and that nobody has asked for its exit code (in a container without init, nobody does) is not alive. */
function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return !/^\d+ \(.*\) Z/.test(readFileSync(`/proc/${pid}/stat`, { encoding: "utf8" }));
  } catch (error) {
    return (error as NodeJS.ErrnoException).path !== undefined && process.platform !== "linux";
  }
}
