import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createOrganization } from "../domain/organizations/create.ts";
import type { Clock } from "../platform/clock.ts";
import { readConfig } from "../platform/config.ts";
import { makeLog } from "../platform/log.ts";
import { startPharos, type Pharos } from "../roles/start.ts";
import type { Plan } from "../schemas/vocabulary.ts";
import { freshClickHouse } from "./clickhouse.ts";
import { freshDatabase } from "./postgres.ts";
import { TEST_SECRETS_KEY } from "./secrets-key.ts";

export interface TestHouse {
  pharos: Pharos;
  /** The edge's own address and the one that serves everything. */
  edge: string;
  base: string;
  organization: Awaited<ReturnType<typeof createOrganization>>;
  createOrganization(plan: Plan): Promise<Awaited<ReturnType<typeof createOrganization>>>;
  /** A JSON request with the organization's key; `path` is below /api/v1 unless it begins with /api/. */
  call<Body = Record<string, never>>(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<{ status: number; headers: Headers; body: Body }>;
  stop(): Promise<void>;
}

/** A whole Pharos in this process: real Postgres and ClickHouse of the run, an embedded log of its own, free ports. */
export async function startTestHouse(settings: Record<string, string> = {}, clock?: Clock): Promise<TestHouse> {
  const folder = await mkdtemp(join(tmpdir(), "pharos-house-"));
  const database = await freshDatabase();
  const clickhouse = await freshClickHouse();
  const read = readConfig({
    DATABASE_URL: database.url,
    CLICKHOUSE_URL: clickhouse.url,
    // The run's PostgreSQL works without fsync.
    STORES_MAY_LOSE: "true",
    PHAROS_DATA_DIR: folder,
    SECRETS_KEY: TEST_SECRETS_KEY,
    PORT: "0",
    EDGE_PORT: "0",
    LOG_LEVEL: process.env.PHAROS_TEST_LOG ?? "silent",
    SCHEDULER_TICK_MS: "50",
    QUIET_BATCH_MS: "0",
    EDGE_THREADS: "0",
    // A push that a slow machine evaluates late is answered 202, which is not what most tests are about.
    METRICS_WAIT_MS: "60000",
    OUTBOUND_ALLOW: "127.0.0.0/8,::1/128",
    ...settings,
  });
  if ("faults" in read) throw new Error(read.faults.join("\n"));
  const pharos = await startPharos({
    config: read.config,
    log: makeLog(read.config.LOG_LEVEL),
    ...(clock && { clock }),
    onLost: (sentence) => {
      throw new Error(sentence);
    },
  });
  const create = (plan: Plan) => createOrganization(pharos.house.database, { name: `Test ${plan}`, plan });
  const organization = await create("team");
  return {
    pharos,
    edge: pharos.edgeUrl!,
    base: pharos.baseUrl!,
    organization,
    createOrganization: create,
    async call<Body>(method: string, path: string, body?: unknown, headers: Record<string, string> = {}) {
      const response = await fetch(`${pharos.baseUrl}${path.startsWith("/api/") ? path : `/api/v1${path}`}`, {
        method,
        headers: { "X-API-Key": organization.apiKey, ...(body !== undefined && { "Content-Type": "application/json" }), ...headers },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      });
      return { status: response.status, headers: response.headers, body: (await response.json()) as Body };
    },
    async stop() {
      await pharos.stop();
      await database.drop();
      await clickhouse.drop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
