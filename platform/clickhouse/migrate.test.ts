import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, inject, test } from "vitest";
import { newId } from "../ids.ts";
import { makeLog } from "../log.ts";
import { openClickHouse } from "./client.ts";
import { migrateClickHouse } from "./migrate.ts";
import type { ClickHouse } from "./port.ts";

const log = makeLog("silent");
let folder: string;
let url: string;
let clickhouse: ClickHouse;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "pharos-migrations-"));
  const address = new URL(inject("clickhouseUrl"));
  address.pathname = `/test_${newId().replaceAll("-", "")}`;
  url = address.href;
  clickhouse = openClickHouse(url, log);
});
afterEach(async () => {
  await clickhouse.command(`DROP DATABASE IF EXISTS ${new URL(url).pathname.slice(1)} SYNC`).catch(() => undefined);
  await clickhouse.close();
  await rm(folder, { recursive: true, force: true });
});

const write = (name: string, text: string): Promise<void> => writeFile(join(folder, name), text);
const migrate = (): Promise<void> => migrateClickHouse(url, log, { folder });
const create = (name: string): string => `CREATE TABLE IF NOT EXISTS ${name} (a UInt8) ENGINE = MergeTree ORDER BY a;\n`;

test("files are run in their order, once each, also those that come later", async () => {
  await write("0002_second.sql", "INSERT INTO one VALUES (2);");
  await write("0001_first.sql", `-- a comment; with a semicolon\n${create("one")}`);
  await migrate();
  await migrate();
  await write("0003_third.sql", "INSERT INTO one VALUES (3)");
  await migrate();
  expect(await clickhouse.query("SELECT a FROM one ORDER BY a")).toEqual([{ a: 2 }, { a: 3 }]);
  expect(await clickhouse.query("SELECT version, name FROM schema_migrations ORDER BY version")).toEqual([
    { version: 1, name: "0001_first.sql" },
    { version: 2, name: "0002_second.sql" },
    { version: 3, name: "0003_third.sql" },
  ]);
});

test("a file that stopped halfway is completed", async () => {
  await write("0001_two.sql", `${create("one")} SELECT throwIf(1);`);
  await expect(migrate()).rejects.toThrow("cannot be brought up to date");
  await write("0001_two.sql", create("one") + create("two"));
  await migrate();
  expect(await clickhouse.query("SELECT (SELECT count() FROM one) + (SELECT count() FROM two) AS rows")).toEqual([{ rows: "0" }]);
});

test("several processes may migrate at a time", async () => {
  await write("0001_two.sql", create("one") + create("two"));
  await Promise.all([migrate(), migrate(), migrate()]);
  expect(await clickhouse.query("SELECT DISTINCT version FROM schema_migrations")).toEqual([{ version: 1 }]);
});

test("a newer schema and a changed file are refused with a sentence", async () => {
  await write("0001_first.sql", create("one"));
  await write("0002_second.sql", create("two"));
  await migrate();
  await rm(join(folder, "0002_second.sql"));
  await expect(migrate()).rejects.toThrow("ClickHouse holds the schema of a newer Pharos (0002_second.sql). Start that version or a later one");
  await write("0002_second.sql", create("three"));
  await expect(migrate()).rejects.toThrow("0002_second.sql was changed after it had been applied");
});

test("a ClickHouse that is away is a sentence without the password", async () => {
  const failure: unknown = await migrateClickHouse("http://default:secret@127.0.0.1:1/pharos", log, { folder }).catch((error: unknown) => error);
  expect((failure as Error).message).toMatch(/^ClickHouse at 127\.0\.0\.1:1 cannot be reached: .*Start it, or correct CLICKHOUSE_URL\.$/);
  expect((failure as Error).message).not.toContain("secret");
});
