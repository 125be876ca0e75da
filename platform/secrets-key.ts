import { randomBytes } from "node:crypto";
import { link, mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { secretsKeys } from "../schemas/tables/all.ts";
import { fingerprintOf, type SecretsKeys } from "../schemas/tables/sealed.ts";
import { newId } from "./ids.ts";
import type { Database } from "./postgres/database.ts";
import { StartFailure } from "./start-failure.ts";

interface KeyConfig {
  SECRETS_KEY: Buffer | null;
  SECRETS_KEY_FALLBACK: Buffer | null;
  PHAROS_DATA_DIR: string;
}

/**
 * The key that seals secrets in PostgreSQL: SECRETS_KEY, or the one in the data folder's `secrets.key`, which is made when there is none. The first start
 * leaves the key's fingerprint in the database. Throws StartFailure when the secrets there are sealed with neither this key nor SECRETS_KEY_FALLBACK.
 */
export async function readSecretsKeys(database: Database, config: KeyConfig): Promise<SecretsKeys> {
  return { key: await readKey(database, config), fallback: config.SECRETS_KEY_FALLBACK };
}

/** Records that everything is sealed with `key`: from here on the fallback's fingerprint opens nothing. */
export async function recordSecretsKey(database: Database, key: Buffer): Promise<void> {
  await database.update(secretsKeys).set({ fingerprint: fingerprintOf(key) });
}

async function readKey(database: Database, config: KeyConfig): Promise<Buffer> {
  const fallback = config.SECRETS_KEY_FALLBACK;
  const checked = (key: Buffer, fix: string) => requireKnownKey(database, { key, fallback, fix });
  if (config.SECRETS_KEY !== null) return checked(config.SECRETS_KEY, "Set SECRETS_KEY to that one.");
  const file = join(config.PHAROS_DATA_DIR, "secrets.key");
  const known = await readKeyFile(file);
  if (known !== null) return checked(known, `Put that one into ${file}, or set SECRETS_KEY to it.`);
  const made = randomBytes(32);
  const isOurs = await writeKeyFile(file, made);
  const key = isOurs ? made : (await readKeyFile(file))!;
  try {
    return await checked(key, `It is in the data folder of the Pharos that began with this database (secrets.key): copy the file to ${file}, or set SECRETS_KEY to what it holds.`);
  } catch (error) {
    // Kept, it would be taken for the right one at the next start.
    if (isOurs && error instanceof StartFailure) await rm(file, { force: true });
    throw error;
  }
}

async function requireKnownKey(database: Database, { key, fallback, fix }: SecretsKeys & { fix: string }): Promise<Buffer> {
  await database.insert(secretsKeys).values({ one: true, fingerprint: fingerprintOf(key) }).onConflictDoNothing();
  const [known] = await database.select().from(secretsKeys);
  if ([key, fallback].some((each) => each !== null && fingerprintOf(each) === known!.fingerprint)) return key;
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
