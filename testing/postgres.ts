import { Client } from "pg";
import { inject } from "vitest";
import { newId } from "../platform/ids.ts";
import { makeLog } from "../platform/log.ts";
import { openDatabase, type Database } from "../platform/postgres/database.ts";
import { useSecretsKey } from "../schemas/tables/sealed.ts";
import { TEST_SECRETS_KEY } from "./secrets-key.ts";

interface FreshDatabase {
  database: Database;
  url: string;
  /** Closes the pool and drops the database. */
  drop(): Promise<void>;
}

/** A database for one test file (or one test) in the run's PostgreSQL: with migrated, empty tables, or without any. */
export async function freshDatabase({ migrated = true }: { migrated?: boolean } = {}): Promise<FreshDatabase> {
  useSecretsKey(Buffer.from(TEST_SECRETS_KEY, "base64"));
  const serverUrl = inject("postgresUrl");
  const name = `test_${newId().replaceAll("-", "")}`;
  await onServer(serverUrl, `create database ${name} template ${migrated ? "template_pharos" : "template0"}`);
  const url = serverUrl.replace("/pharos?", `/${name}?`);
  const database = openDatabase(url, 20, makeLog("silent"));
  return {
    database,
    url,
    async drop() {
      if (!database.$client.ended) await database.$client.end();
      await onServer(serverUrl, `drop database ${name} with (force)`);
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
