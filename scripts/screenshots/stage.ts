import { once } from "node:events";
import { createServer } from "node:http";
import { mkdtemp, rm } from "node:fs/promises";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { buildControlPlane } from "../../control-plane/app.ts";
import { ALL_ROUTES } from "../../control-plane/routes/all.ts";
import { createOrganization } from "../../domain/organizations/create.ts";
import { openClickHouse } from "../../platform/clickhouse/client.ts";
import { migrateClickHouse } from "../../platform/clickhouse/migrate.ts";
import type { ClickHouse } from "../../platform/clickhouse/port.ts";
import { startEmbeddedClickHouse } from "../../platform/clickhouse/start-embedded.ts";
import { readConfig } from "../../platform/config.ts";
import { makeLog } from "../../platform/log.ts";
import { openDatabase } from "../../platform/postgres/database.ts";
import { startEmbeddedPostgres } from "../../platform/postgres/embedded.ts";
import { prepareLogins } from "../../platform/postgres/logins.ts";
import { migrate } from "../../platform/postgres/migrate.ts";
import { openTenants } from "../../platform/postgres/tenants.ts";
import { startPostgresRelay } from "../../testing/postgres-relay.ts";
import { LOGOS } from "./logos.ts";

/** The first service of the organization and its default page are made with it. */
const FIRST_SERVICE = { name: "Website", description: "nordwind.example and its shop windows" } as const;

/** A control plane with one organization, on stores of its own, at a time that is told to it. */
export interface Stage {
  /** http://127.0.0.1:port */
  url: string;
  /** Where `LOGOS` stand, by their file name. */
  logos: string;
  clickhouse: ClickHouse;
  organization: { organizationId: string; serviceId: string; pageId: string; pageSlug: string };
  /** From now on it is this time, in milliseconds since the epoch. */
  setTime(now: number): void;
  /** A request below /api/v1 with the organization's key; rejects with the answer unless it is a success. */
  call<Answer>(method: "GET" | "POST" | "PUT" | "PATCH", path: string, body?: unknown): Promise<Answer>;
  /** From now on Postgres is away. */
  cutPostgres(): Promise<void>;
  stop(): Promise<void>;
}

/** Stores without fsync, which nobody needs afterwards; all is gone after `stop`. */
export async function startStage(begin: number): Promise<Stage> {
  const log = makeLog("silent");
  const folder = await mkdtemp(join(tmpdir(), "pharos-screenshots-"));
  const [postgres, store] = await Promise.all([
    startEmbeddedPostgres({ folder: join(folder, "postgres"), log, settings: { fsync: "off", synchronous_commit: "off", full_page_writes: "off" } }),
    startEmbeddedClickHouse({ folder: join(folder, "clickhouse"), log }),
  ]);
  await Promise.all([migrate(postgres.url, log), migrateClickHouse(store.url, log)]);
  const logins = await prepareLogins({ url: postgres.url, log });
  const relay = await startPostgresRelay(postgres.url);
  const clickhouse = openClickHouse(store.url, log);
  const database = openDatabase(relay.url, 10, log);
  const tenants = openTenants({ ...logins, tenant: relay.to(logins.tenant) }, 10, log);
  const read = readConfig({ RATE_LIMIT_ANONYMOUS: "0", RATE_LIMIT_STANDARD: "free:0,pro:0,team:0", SMTP_URL: "smtp://127.0.0.1:9", MAIL_FROM: "Nordwind <status@nordwind.example>" });
  if ("faults" in read) throw new Error(read.faults.join("\n"));
  let now = begin;
  const clock = { now: () => now, monotonic: () => performance.now() };
  const { apiKey, ...organization } = await createOrganization(database, { name: "Nordwind", plan: "team", services: [FIRST_SERVICE] }, new Date(begin));
  const app = await buildControlPlane({ database, databaseUrl: relay.url, tenants, clickhouse, clock, config: read.config, log, routes: ALL_ROUTES, edge: null });
  const url = await app.listen({ host: "127.0.0.1", port: 0 });
  const logos = await serveLogos();
  return {
    url,
    logos: logos.url,
    clickhouse,
    organization,
    setTime: (time) => void (now = time),
    async call<Answer>(method: string, path: string, body?: unknown) {
      const answer = await fetch(`${url}/api/v1${path}`, { method, headers: { "x-api-key": apiKey, "content-type": "application/json" }, ...(body !== undefined && { body: JSON.stringify(body) }) });
      if (!answer.ok) throw new Error(`${method} ${path} was answered ${answer.status}: ${await answer.text()}`);
      return (await answer.json()) as Answer;
    },
    cutPostgres: () => relay.cut(),
    async stop() {
      logos.stop();
      await app.close();
      await Promise.all([clickhouse.close(), tenants.close(), database.$client.end()]);
      await relay.cut();
      await Promise.all([postgres.stop(), store.stop()]);
      await rm(folder, { recursive: true, force: true });
    },
  };
}

async function serveLogos(): Promise<{ url: string; stop(): void }> {
  const server = createServer((request, response) => {
    const logo = LOGOS[request.url!.slice(1)];
    if (logo === undefined) response.writeHead(404).end();
    else response.writeHead(200, { "Content-Type": "image/svg+xml" }).end(logo);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    stop() {
      server.closeAllConnections();
      server.close();
    },
  };
}
