import { rm } from "node:fs/promises";
import { Client } from "pg";
import type { TestProject } from "vitest/node";
import { makeLog } from "../platform/log.ts";
import { startEmbeddedPostgres } from "../platform/postgres/embedded.ts";
import { prepareLogins } from "../platform/postgres/logins.ts";
import { migrate } from "../platform/postgres/migrate.ts";
import { makeRunFolder } from "./run-folder.ts";

declare module "vitest" {
  interface ProvidedContext {
    /** The run's PostgreSQL; its database `template_pharos` is migrated and empty. */
    postgresUrl: string;
    /** The logins that its databases share; they name `template_pharos`. */
    postgresLogins: { application: string; tenant: string; tenantKey: string; statementsAreHidden: boolean };
  }
}

/** One PostgreSQL for the whole run, without fsync, in a folder of its own that goes away with it. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const folder = await makeRunFolder("postgres");
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
  const url = server.url.replace("/pharos?", "/template_pharos?");
  await migrate(url, log);
  const { tenantKey, ...logins } = await prepareLogins({ url, log });
  project.provide("postgresLogins", { ...logins, tenantKey: tenantKey.toString("hex") });
  project.provide("postgresUrl", server.url);
  return async () => {
    await server.stop();
    await rm(folder, { recursive: true, force: true });
  };
}
