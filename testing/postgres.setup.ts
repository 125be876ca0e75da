import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client } from "pg";
import { tsImport } from "tsx/esm/api";
import type { TestProject } from "vitest/node";
import { makeLog } from "../platform/log.ts";
import { startEmbeddedPostgres } from "../platform/postgres/embedded.ts";
import type { migrate as Migrate } from "../platform/postgres/migrate.ts";

declare module "vitest" {
  interface ProvidedContext {
    /** The run's PostgreSQL; its database `template_pharos` is migrated and empty. */
    postgresUrl: string;
  }
}

const FOLDER_PREFIX = "pharos-test-postgres-";

/** One PostgreSQL for the whole run, without fsync, in a folder of its own that goes away with it. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  await removeLeftFolders();
  const folder = await mkdtemp(join(tmpdir(), `${FOLDER_PREFIX}${process.pid}-`));
  const log = makeLog("silent");
  const server = await startEmbeddedPostgres({
    folder,
    log,
    settings: { fsync: "off", synchronous_commit: "off", full_page_writes: "off", shared_buffers: "32MB", max_connections: "300" },
  });
  const client = new Client({ connectionString: server.url });
  await client.connect();
  await client.query("create database template_pharos");
  await client.end();
  // Loaded by Node itself: where vitest loads a global setup, `import.meta.resolve` (platform/root.ts) is missing.
  const { migrate } = (await tsImport("../platform/postgres/migrate.ts", import.meta.url)) as { migrate: typeof Migrate };
  await migrate(server.url.replace("/pharos?", "/template_pharos?"), log);
  project.provide("postgresUrl", server.url);
  return async () => {
    await server.stop();
    await rm(folder, { recursive: true, force: true });
  };
}

/** A run that was killed leaves its folder (its server ends by itself); the run's process id is in the name. */
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
