import { Client } from "pg";
import { inject } from "vitest";
import { newId } from "../platform/ids.ts";
import { makeLog } from "../platform/log.ts";
import { nameOfLogin, type Logins } from "../platform/postgres/logins.ts";
import { openDatabase, type Database } from "../platform/postgres/database.ts";
import { useSecretsKeys } from "../schemas/tables/sealed.ts";
import { TEST_SECRETS_KEY } from "./secrets-key.ts";

interface FreshDatabase {
  /** Of the tables' owner, here a superuser: for what tests prepare and look at. */
  database: Database;
  url: string;
  /** What the service works with; of no use before the tables are there. */
  logins: Logins;
  /** Closes the pool and drops the database. */
  drop(): Promise<void>;
}

/** A database for one test file (or one test) in the run's PostgreSQL: with migrated, empty tables, or without any. */
export async function freshDatabase({ migrated = true }: { migrated?: boolean } = {}): Promise<FreshDatabase> {
  useSecretsKeys({ key: Buffer.from(TEST_SECRETS_KEY, "base64"), fallback: null });
  const serverUrl = inject("postgresUrl");
  const name = `test_${newId().replaceAll("-", "")}`;
  await onServer(serverUrl, `create database ${name} template ${migrated ? "template_pharos" : "template0"}`);
  const url = serverUrl.replace("/pharos?", `/${name}?`);
  const { tenantKey, statementsAreHidden, ...logins } = inject("postgresLogins");
  const here = (login: string) => login.replace("/template_pharos?", `/${name}?`);
  const database = openDatabase(url, 20, makeLog("silent"));
  return {
    database,
    url,
    logins: { application: here(logins.application), tenant: here(logins.tenant), tenantKey: Buffer.from(tenantKey, "hex"), statementsAreHidden },
    async drop() {
      if (!database.$client.ended) await database.$client.end();
      await onServer(serverUrl, `drop database ${name} with (force)`);
      // Of a service that was started on it.
      for (const kind of ["application", "tenant"] as const) await onServer(serverUrl, `drop role if exists ${nameOfLogin(name, kind)}`);
    },
  };
}

async function onServer(url: string, statement: string): Promise<void> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}
