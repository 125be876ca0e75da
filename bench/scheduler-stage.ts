import { spawn, type ChildProcess } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createOrganization } from "../domain/organizations/create.ts";
import { makeLog } from "../platform/log.ts";
import { openDatabase, type Database } from "../platform/postgres/database.ts";
import { startEmbeddedPostgres } from "../platform/postgres/embedded.ts";
import { migrate } from "../platform/postgres/migrate.ts";
import { LOADER_ARGUMENTS, moduleFile } from "../platform/root.ts";
import { cpuOfFamily } from "./measuring.ts";
import { useSecretsKeys } from "../schemas/tables/sealed.ts";
import { TEST_SECRETS_KEY } from "../testing/secrets-key.ts";

/** What a scheduler is measured on: a PostgreSQL of its own with some organizations. */
export interface SchedulerStage {
  database: Database;
  organizationIds: string[];
  /** Of PostgreSQL's processes so far, in µs. */
  postgresCpu(): number;
  stop(): Promise<void>;
}

export async function setSchedulerStage(organizations: number): Promise<SchedulerStage> {
  const log = makeLog("warn");
  const folder = await mkdtemp(join(tmpdir(), "pharos-bench-"));
  const postgres = await startEmbeddedPostgres({ folder: join(folder, "postgres"), log });
  useSecretsKeys({ key: Buffer.from(TEST_SECRETS_KEY, "base64"), fallback: null });
  await migrate(postgres.url, log);
  const database = openDatabase(postgres.url, 20, log);
  const organizationIds: string[] = [];
  for (let n = 0; n < organizations; n++) organizationIds.push((await createOrganization(database, { name: `Bench ${n}`, plan: "team" })).organizationId);
  const file = readdirSync(folder, { recursive: true, encoding: "utf8" }).find((each) => each.endsWith("postmaster.pid"))!;
  const first = Number(readFileSync(join(folder, file), "utf8").split("\n")[0]);
  return {
    database,
    organizationIds,
    postgresCpu: () => cpuOfFamily(first),
    async stop() {
      await database.$client.end();
      await postgres.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** Starts bench/receive.ts; resolves with its port. */
export async function startReceiving(environment: Record<string, string>): Promise<{ child: ChildProcess; port: number }> {
  const child = spawn(process.execPath, [...LOADER_ARGUMENTS, moduleFile("./receive.ts", import.meta.url)], { env: { ...process.env, ...environment }, stdio: ["ignore", "pipe", "inherit"] });
  const port = await new Promise<number>((resolve) => child.stdout.on("data", (chunk: Buffer) => resolve(Number(/port (\d+)/.exec(String(chunk))![1]))));
  return { child, port };
}
