import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { makeLog } from "../log.ts";
import { LOADER_ARGUMENTS, moduleFile } from "../root.ts";
import { StartFailure } from "../start-failure.ts";
import { openClickHouse } from "./client.ts";
import { migrateClickHouse } from "./migrate.ts";
import type { ClickHouse } from "./port.ts";
import { startEmbeddedClickHouse, type EmbeddedClickHouse } from "./start-embedded.ts";

const log = makeLog("silent");
let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "pharos clickhouse "));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

/** The tests go through its starts and stops in turn, because each start takes a second or two of the processor. */
describe("one folder, with an awkward name", () => {
  let life: string;
  let engine: EmbeddedClickHouse;
  let store: ClickHouse;
  const values = Array.from({ length: 5 }, (_each, index) => ({ name: `n${index}`, value: index }));

  async function start(): Promise<void> {
    engine = await startEmbeddedClickHouse({ folder: life, log });
    await migrateClickHouse(engine.url, log);
    store = openClickHouse(engine.url, log);
  }

  beforeAll(async () => {
    life = await mkdtemp(join(tmpdir(), "pharos clickhouse {it's,*} "));
    await start();
  });
  afterAll(() => rm(life, { recursive: true, force: true }));

  test("has one engine at a time", async () => {
    await expect(startEmbeddedClickHouse({ folder: life, log, lockWaitMs: 100 })).rejects.toThrow(`The ClickHouse data in ${life} is held by another process. Stop the other Pharos, or choose another PHAROS_DATA_DIR.`);
  });

  test("has a password that is in no command line", async () => {
    const commandLine = await readFile(`/proc/${engine.pid}/cmdline`, "utf8").catch(() => "");
    expect(commandLine).not.toContain(new URL(engine.url).password);
  });

  test("lets running statements end when it stops", async () => {
    await Promise.all(values.map((value) => store.insert("metric_samples", [{ ...value, received_at: new Date() }], {})));
    const slow = store.query("SELECT sum(sleepEachRow(0.1)) AS slept FROM numbers(20) SETTINGS max_block_size = 1");
    await expect.poll(() => store.query("SELECT 1 FROM system.processes WHERE query LIKE '%sleepEachRow(0.1)%' AND query NOT LIKE '%processes%'")).toHaveLength(1);
    await engine.stop();
    expect(await slow).toEqual([{ slept: "0" }]);
    expect(await engine.exited).toBe("The embedded ClickHouse ended with code 0.");
    expect(isAlive(engine.pid)).toBe(false);
    await store.close();
  });

  test("has what was inserted after the next start, and nothing that a killed engine had not yet inserted", async () => {
    await writeFile(join(life, "inserts", "left.rows"), "{}");
    await start();
    expect(await readdir(join(life, "inserts"))).toEqual([]);
    expect(await store.query("SELECT name, value FROM metric_samples ORDER BY value")).toEqual(values);
    await store.close();
    await engine.stop();
  });

  test("says in a sentence, not a stack, that its files are damaged", async () => {
    const metadata = (await readdir(join(life, "engine"), { recursive: true })).filter((name) => name.endsWith(".sql"));
    for (const name of metadata) await writeFile(join(life, "engine", name), "\0 damaged");
    const failure = await startEmbeddedClickHouse({ folder: life, log }).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(StartFailure);
    expect((failure as Error).message).toContain(`The embedded ClickHouse cannot start on ${life}`);
    expect((failure as Error).message).toContain("restore the folder from a backup");
  });
});

test("when Pharos is killed its engine ends by itself, and a start right after finds every confirmed row", async () => {
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
  await expect.poll(() => confirmed).toBeGreaterThan(5);
  parent.kill("SIGKILL");
  const successor = await startEmbeddedClickHouse({ folder, log });
  await inserting;
  await store.close();
  await expect.poll(() => isAlive(pid)).toBe(false);
  const reopened = openClickHouse(successor.url, log);
  const [row] = await reopened.query<{ rows: string }>("SELECT count() AS rows FROM metric_samples");
  // One more may have been written and not confirmed.
  expect([confirmed, confirmed + 1]).toContain(Number(row!.rows));
  expect(await readdir(join(folder, "inserts"))).toEqual([]);
  await reopened.close();
  await successor.stop();
});

test("a folder that cannot be used is named, with what to do", async () => {
  const file = join(folder, "file");
  await writeFile(file, "");
  const failure = await startEmbeddedClickHouse({ folder: file, log }).catch((error: unknown) => error);
  expect(failure).toBeInstanceOf(StartFailure);
  expect(String(failure)).toContain(`The ClickHouse data folder ${file} cannot be used`);
});

/** A process that starts an engine, tells its address, and waits until this one ends. */
function spawnParent(data: string): ChildProcess {
  const module = (name: string): string => JSON.stringify(moduleFile(name, import.meta.url));
  const program = `
    const { startEmbeddedClickHouse } = await import(${module("./start-embedded.ts")});
    const { migrateClickHouse } = await import(${module("./migrate.ts")});
    const { makeLog } = await import(${module("../log.ts")});
    const engine = await startEmbeddedClickHouse({ folder: ${JSON.stringify(data)}, log: makeLog("silent") });
    await migrateClickHouse(engine.url, makeLog("silent"));
    process.send({ url: engine.url, pid: engine.pid });
    process.once("disconnect", () => process.exit());`;
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
