import { randomBytes } from "node:crypto";
import { link, mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { sql } from "drizzle-orm";
import { secretsKeys } from "../schemas/tables/all.ts";
import { fingerprintOf } from "../schemas/tables/sealed.ts";
import { newId } from "./ids.ts";
import type { Database } from "./postgres/database.ts";
import { StartFailure } from "./start-failure.ts";

interface KeyConfig {
  SECRETS_KEY: Buffer | null;
  PHAROS_DATA_DIR: string;
}

/**
 * The key that seals secrets in PostgreSQL: SECRETS_KEY, or the one in the data folder's `secrets.key`, which is made when there is none. The first start
 * leaves the key's fingerprint in the database. Throws StartFailure when the secrets there are sealed with another key.
 */
export async function readSecretsKey(database: Database, config: KeyConfig): Promise<Buffer> {
  if (config.SECRETS_KEY !== null) return checked(database, config.SECRETS_KEY, "Set SECRETS_KEY to that one.");
  const file = join(config.PHAROS_DATA_DIR, "secrets.key");
  const known = await readKeyFile(file);
  if (known !== null) return checked(database, known, `Put that one into ${file}, or set SECRETS_KEY to it.`);
  const made = randomBytes(32);
  const isOurs = await writeKeyFile(file, made);
  const key = isOurs ? made : (await readKeyFile(file))!;
  try {
    return await checked(database, key, `It is in the data folder of the Pharos that began with this database (secrets.key): copy the file to ${file}, or set SECRETS_KEY to what it holds.`);
  } catch (error) {
    // Kept, it would be taken for the right one at the next start.
    if (isOurs && error instanceof StartFailure) await rm(file, { force: true });
    throw error;
  }
}

async function checked(database: Database, key: Buffer, fix: string): Promise<Buffer> {
  const fingerprint = fingerprintOf(key);
  await database.insert(secretsKeys).values({ one: true, fingerprint }).onConflictDoNothing();
  const { rows } = await database.execute(sql`select 1 from ${secretsKeys} where fingerprint = ${fingerprint}`);
  if (rows.length > 0) return key;
  throw new StartFailure("The secrets in this database (webhooks' and channels' addresses, headers) are sealed with another key.", { fix });
}

/** Null when there is none. */
async function readKeyFile(file: string): Promise<Buffer | null> {
  const text = await readFile(file, "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return null;
    throw new StartFailure(`The key of the secrets cannot be read: ${error.message}.`);
  });
  if (text === null) return null;
  const key = Buffer.from(text.trim(), "base64");
  if (key.length === 32) return key;
  throw new StartFailure(`${file} holds no key of 32 bytes in base64.`, { fix: "Put back the file that stood there, from a backup." });
}

/** Whole or not at all, and never over another process's. False when one was there. */
async function writeKeyFile(file: string, key: Buffer): Promise<boolean> {
  await mkdir(join(file, ".."), { recursive: true, mode: 0o700 });
  const fresh = `${file}.${newId()}`;
  try {
    await writeFile(fresh, `${key.toString("base64")}\n`, { mode: 0o600, flush: true });
    await link(fresh, file);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
    throw new StartFailure(`The key of the secrets cannot be written: ${(error as Error).message}.`, { fix: "Make the data folder writable, or set SECRETS_KEY." });
  } finally {
    await rm(fresh, { force: true });
  }
}
