import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestProject } from "vitest/node";
import { startEmbeddedClickHouse } from "../platform/clickhouse/start-embedded.ts";
import { makeLog } from "../platform/log.ts";

declare module "vitest" {
  interface ProvidedContext {
    /** The run's embedded ClickHouse; each test makes a database of its own in it. */
    clickhouseUrl: string;
  }
}

const FOLDER_PREFIX = "pharos-test-clickhouse-";

/** One embedded ClickHouse for the whole run, in a folder of its own that goes away with it. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  await removeLeftFolders();
  const folder = await mkdtemp(join(tmpdir(), `${FOLDER_PREFIX}${process.pid}-`));
  const engine = await startEmbeddedClickHouse({ folder, log: makeLog("silent") });
  project.provide("clickhouseUrl", engine.url);
  return async () => {
    await engine.stop();
    await rm(folder, { recursive: true, force: true });
  };
}

/** A run that was killed leaves its folder (its engine ends by itself); the run's process id is in the name. */
async function removeLeftFolders(): Promise<void> {
  for (const name of await readdir(tmpdir())) {
    const pid = name.startsWith(FOLDER_PREFIX) ? Number.parseInt(name.slice(FOLDER_PREFIX.length), 10) : Number.NaN;
    if (Number.isNaN(pid) || isAlive(pid)) continue;
    await rm(join(tmpdir(), name), { recursive: true, force: true }).catch(() => undefined);
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}
