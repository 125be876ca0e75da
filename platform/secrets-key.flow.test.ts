import { randomBytes } from "node:crypto";
import { mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { eq, getTableName, sql } from "drizzle-orm";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { channels, organizations, secretsKeys, uptimeMonitors, webhooks, workflows } from "../schemas/tables/all.ts";
import { useSecretsKeys } from "../schemas/tables/sealed.ts";
import { freshDatabase } from "../testing/postgres.ts";
import { TEST_SECRETS_KEY } from "../testing/secrets-key.ts";
import { newId } from "./ids.ts";
import type { Database } from "./postgres/database.ts";
import { SEALED_COLUMNS, sealPlainRows, sealRowsAnew } from "./postgres/seal-rows.ts";
import { readSecretsKeys, recordSecretsKey } from "./secrets-key.ts";

let database: Database;
let drop: () => Promise<void>;
let folder: string;
const organizationId = newId();
beforeAll(async () => {
  ({ database, drop } = await freshDatabase());
  await database.insert(organizations).values({ id: organizationId, name: "Acme", plan: "team" });
});
afterAll(() => drop());
beforeEach(async () => {
  await database.delete(secretsKeys);
  useSecretsKeys({ key, fallback: null });
  folder = await mkdtemp(join(tmpdir(), "pharos-secrets-"));
  return () => rm(folder, { recursive: true });
});

const key = Buffer.from(TEST_SECRETS_KEY, "base64");
const config = (given: Buffer | null = null, fallback: Buffer | null = null) => ({ SECRETS_KEY: given, SECRETS_KEY_FALLBACK: fallback, PHAROS_DATA_DIR: folder });
const keyOf = async (given: Parameters<typeof readSecretsKeys>[1]) => (await readSecretsKeys(database, given)).key;

describe("the key of the secrets", () => {
  it("is made by the first start, for its owner only, and the same for all who share the folder", async () => {
    const keys = await Promise.all(Array.from({ length: 5 }, () => keyOf(config())));
    expect(new Set(keys.map((key) => key.toString("hex"))).size).toBe(1);
    expect((await stat(join(folder, "secrets.key"))).mode & 0o777).toBe(0o600);
    expect(await keyOf(config())).toEqual(keys[0]);
    expect(await keyOf(config(keys[0]))).toEqual(keys[0]);
  });

  it("is refused when the database was sealed with another, and leaves no file that would be taken for it", async () => {
    await keyOf(config(randomBytes(32)));
    await expect(keyOf(config(randomBytes(32)))).rejects.toThrow(/sealed with another key\. Set SECRETS_KEY to that one\./);
    await expect(keyOf(config())).rejects.toThrow(/sealed with another key.*copy the file/s);
    await expect(readFile(join(folder, "secrets.key"))).rejects.toThrow(/ENOENT/);
  });

  it("is refused when its file was spoiled", async () => {
    await writeFile(join(folder, "secrets.key"), "not a key\n");
    await expect(keyOf(config())).rejects.toThrow(/holds no key of 32 bytes/);
  });
});

describe("secrets", () => {
  const steps = [{ type: "http_request", headers: { Authorization: "very-private" } }];
  const request = { organizationId, name: "x", url: "https://example.com/", createdAt: new Date(), updatedAt: new Date() };
  const monitor = { ...request, method: "POST", intervalSeconds: 60, timeoutMs: 1_000, expectedStatusCodes: [], followRedirects: true, verifySsl: true, failuresToDown: 1, successesToUp: 1, createIncident: false, status: "pending" as const, dueAt: new Date() };

  async function insertAll(): Promise<void> {
    await database.insert(webhooks).values({ ...request, id: newId(), signingSecret: "very-private", previousSecret: "very-private", events: ["incident.created"], headers: { "X-A": "very-private" } });
    await database.insert(uptimeMonitors).values({ ...monitor, id: newId(), headers: { "X-A": "very-private" }, body: "very-private" });
    await database.insert(channels).values({ id: newId(), organizationId, type: "slack", name: "x", config: { webhook_url: "very-private" } });
    await database.insert(workflows).values({ id: newId(), organizationId, name: "x", trigger: {}, steps });
  }
  const readAll = async () => [
    await database.select({ a: webhooks.signingSecret, b: webhooks.previousSecret, c: webhooks.headers }).from(webhooks).orderBy(webhooks.id),
    await database.select({ a: uptimeMonitors.headers, b: uptimeMonitors.body }).from(uptimeMonitors).orderBy(uptimeMonitors.id),
    await database.select({ a: channels.config }).from(channels).orderBy(channels.id),
    await database.select({ a: workflows.steps }).from(workflows).orderBy(workflows.id),
  ];
  const storedTexts = async () => {
    const tables = SEALED_COLUMNS.map(([table]) => sql.raw(`select row_to_json(t)::text as row from ${getTableName(table)} as t`));
    return JSON.stringify((await database.execute(sql.join(tables, sql` union all `))).rows);
  };

  it("lie sealed in the database and are read as they were", async () => {
    await insertAll();
    const read = await readAll();
    expect(JSON.stringify(read).match(/very-private/g)).toHaveLength(7);
    expect(await storedTexts()).not.toContain("very-private");
    // The same text is never sealed the same.
    await insertAll();
    const { rows } = await database.execute(sql`select distinct signing_secret from webhooks`);
    expect(rows).toHaveLength(2);
  });

  it("that an older version left plain are read, and sealed by the next start", async () => {
    await insertAll();
    await database.execute(sql`update webhooks set signing_secret = 'very-private', previous_secret = null, headers = '{"X-A": "very-private"}'`);
    await database.execute(sql`update uptime_monitors set headers = '{"X-A": "very-private"}', body = 'very-private'`);
    await database.execute(sql`update channels set config = '{"webhook_url": "very-private"}'`);
    await database.execute(sql`update workflows set steps = ${JSON.stringify(steps)}::jsonb`);
    const before = await readAll();
    expect(await storedTexts()).toContain("very-private");
    const counts = await Promise.all([sealPlainRows(database), sealPlainRows(database)]);
    expect(counts[0] + counts[1]).toBeGreaterThan(5);
    expect(await sealPlainRows(database)).toBe(0);
    expect(await storedTexts()).not.toContain("very-private");
    expect(await readAll()).toEqual(before);
  });

  it("are sealed with another key while processes with both keys work, and the first is worth nothing afterwards", async () => {
    await insertAll();
    await readSecretsKeys(database, config(key));
    const before = await readAll();
    const next = randomBytes(32);
    await expect(keyOf(config(next, randomBytes(32)))).rejects.toThrow(/sealed with another key/);
    useSecretsKeys(await readSecretsKeys(database, config(next, key)));
    expect(await readAll()).toEqual(before);
    const stored = await storedTexts();
    const counts = await Promise.all([sealRowsAnew(database), sealRowsAnew(database)]);
    expect(counts[0] + counts[1]).toBeGreaterThanOrEqual(stored.match(/sealed1:/g)!.length);
    expect(await sealRowsAnew(database)).toBe(0);
    await recordSecretsKey(database, next);
    await expect(keyOf(config(key))).rejects.toThrow(/sealed with another key/);
    useSecretsKeys(await readSecretsKeys(database, config(next)));
    expect(await readAll()).toEqual(before);
    // A process that still seals with the first key is no obstacle to a later start.
    useSecretsKeys({ key, fallback: next });
    const id = newId();
    await database.insert(channels).values({ id, organizationId, type: "slack", name: "x", config: { webhook_url: "very-private" } });
    useSecretsKeys({ key: next, fallback: key });
    expect(await sealRowsAnew(database)).toBe(1);
    useSecretsKeys({ key, fallback: next });
    expect(await sealRowsAnew(database)).toBeGreaterThan(1);
    useSecretsKeys({ key, fallback: null });
    await sealPlainRows(database);
  });

  it("cannot be read with another key, nor when they were changed", async () => {
    const id = newId();
    await database.insert(channels).values({ id, organizationId, type: "slack", name: "x", config: { webhook_url: "very-private" } });
    const read = () => database.select({ config: channels.config }).from(channels).where(eq(channels.id, id));
    useSecretsKeys({ key: randomBytes(32), fallback: null });
    await expect(read()).rejects.toThrow();
    useSecretsKeys({ key, fallback: null });
    expect(await read()).toEqual([{ config: { webhook_url: "very-private" } }]);
    await database.execute(sql`update channels set config = to_jsonb(overlay(config #>> '{}' placing 'AAAA' from 30)) where id = ${id}`);
    await expect(read()).rejects.toThrow();
  });
});
