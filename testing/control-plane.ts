import type { FastifyInstance } from "fastify";
import { buildControlPlane, type ControlPlaneOptions } from "../control-plane/app.ts";
import { ALL_ROUTES } from "../control-plane/routes/all.ts";
import { createOrganization, type CreatedOrganization } from "../domain/organizations/create.ts";
import { openClickHouse } from "../platform/clickhouse/client.ts";
import { systemClock } from "../platform/clock.ts";
import { readConfig } from "../platform/config.ts";
import { makeLog } from "../platform/log.ts";
import { openDatabase, type Database } from "../platform/postgres/database.ts";
import { openTenants, type Tenants } from "../platform/postgres/tenants.ts";
import type { Plan } from "../schemas/vocabulary.ts";
import { checkAnswers } from "./check-answer.ts";
import { freshDatabase } from "./postgres.ts";
import { startPostgresRelay } from "./postgres-relay.ts";

/** Nothing listens there: what needs ClickHouse meets it as away. */
const NO_CLICKHOUSE = "http://127.0.0.1:9";

export interface TestControlPlane {
  app: FastifyInstance;
  /** Of the tables' owner: for what a test prepares and looks at. */
  database: Database;
  /** What handlers get their database from. */
  tenants: Tenants;
  /** The organization whose key `call` sends; on the team plan. */
  organization: CreatedOrganization;
  createOrganization(plan: Plan): Promise<CreatedOrganization>;
  /** A JSON request below /api/v1. */
  call(method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE", path: string, body?: unknown, headers?: Record<string, string>): Promise<Answer>;
  /** From now on Postgres is away, for the control plane and for `database`. */
  cutPostgres(): Promise<void>;
  /** It is there again. */
  mendPostgres(): Promise<void>;
  stop(): Promise<void>;
}

export interface Answer {
  status: number;
  headers: Record<string, string | undefined>;
  body: Record<string, unknown> & { error?: string; code?: string; path?: string; fix?: string; request_id?: string };
}

interface Options extends Partial<Pick<ControlPlaneOptions, "routes" | "edge" | "probes" | "clock" | "clickhouse" | "metrics">> {
  settings?: Record<string, string>;
}

/** The control plane alone, on a database of its own and without ClickHouse; it does not listen unless told to. */
export async function startTestControlPlane({ settings = {}, ...options }: Options = {}): Promise<TestControlPlane> {
  const log = makeLog("silent");
  const { url, logins, drop } = await freshDatabase();
  const relay = await startPostgresRelay(url);
  const database = openDatabase(relay.url, 10, log);
  const application = openDatabase(relay.to(logins.application), 10, log);
  const tenants = openTenants({ ...logins, tenant: relay.to(logins.tenant) }, 10, log);
  const read = readConfig({ TRUSTED_PROXIES: "127.0.0.1", RATE_LIMIT_ANONYMOUS: "0", RATE_LIMIT_STANDARD: "free:0,pro:0,team:0", ...settings });
  if ("faults" in read) throw new Error(read.faults.join("\n"));
  const clickhouse = openClickHouse(NO_CLICKHOUSE, log);
  const app = await buildControlPlane({ database: application, databaseUrl: relay.to(logins.application), tenants, clickhouse, clock: systemClock, config: read.config, log, routes: ALL_ROUTES, edge: null, ...options });
  await app.ready();
  checkAnswers(app, options.routes ?? ALL_ROUTES);
  const organization = await createOrganization(database, { name: "Test team", plan: "team" });
  return {
    app,
    database,
    tenants,
    organization,
    createOrganization: (plan) => createOrganization(database, { name: `Test ${plan}`, plan }),
    async call(method, path, body, headers = {}) {
      const response = await app.inject({
        method,
        url: `/api/v1${path}`,
        headers: { "x-api-key": organization.apiKey, ...headers },
        ...(body !== undefined && { payload: body as object }),
      });
      return { status: response.statusCode, headers: response.headers as Answer["headers"], body: response.json() };
    },
    cutPostgres: () => relay.cut(),
    mendPostgres: () => relay.mend(),
    async stop() {
      await app.close();
      await clickhouse.close();
      await Promise.all([tenants.close(), application.$client.end(), database.$client.end()]);
      await relay.cut();
      await drop();
    },
  };
}
