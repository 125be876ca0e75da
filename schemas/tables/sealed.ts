import { createCipheriv, createDecipheriv, createHmac, randomBytes } from "node:crypto";
import { customType } from "drizzle-orm/pg-core";

/** Stands before what is sealed: AES-256-GCM, nonce, text and tag in base64. */
const PREFIX = "sealed1:";
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/** Two keys of 32 bytes: `key` seals and opens; `fallback` opens what `key` does not, while the key is being changed. */
export interface SecretsKeys {
  key: Buffer;
  fallback: Buffer | null;
}

let keys: SecretsKeys | null = null;

/** From here on this process seals and opens columns with these keys. */
export function useSecretsKeys(used: SecretsKeys): void {
  keys = used;
}

/** What may lie beside sealed values, so that a wrong key is noticed; it does not tell the key. */
export function fingerprintOf(key: Buffer): string {
  return createHmac("sha256", key).update("pharos secrets key").digest("base64url");
}

function isSealed(value: unknown): value is string {
  return typeof value === "string" && value.startsWith(PREFIX);
}

/** Whether a stored value, as the driver gives it, is sealed with another key than the one that seals. */
export function isSealedWithFallback(value: unknown): boolean {
  return isSealed(value) && openWith(keysOrThrow().key, value) === null;
}

function keysOrThrow(): SecretsKeys {
  if (keys === null) throw new Error("a secret was asked for before SECRETS_KEY was read");
  return keys;
}

function seal(text: string): string {
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv("aes-256-gcm", keysOrThrow().key, nonce);
  return PREFIX + Buffer.concat([nonce, cipher.update(text, "utf8"), cipher.final(), cipher.getAuthTag()]).toString("base64");
}

function open(sealed: string): string {
  const { key, fallback } = keysOrThrow();
  const text = openWith(key, sealed) ?? (fallback && openWith(fallback, sealed));
  if (text === null) throw new Error("a secret in the database was sealed with another key, or was changed");
  return text;
}

/** Null when it was sealed with another key, or changed since. */
function openWith(key: Buffer, sealed: string): string | null {
  const bytes = Buffer.from(sealed.slice(PREFIX.length), "base64");
  if (bytes.length < NONCE_BYTES + TAG_BYTES) return null;
  const decipher = createDecipheriv("aes-256-gcm", key, bytes.subarray(0, NONCE_BYTES));
  decipher.setAuthTag(bytes.subarray(bytes.length - TAG_BYTES));
  const text = decipher.update(bytes.subarray(NONCE_BYTES, bytes.length - TAG_BYTES));
  try {
    return Buffer.concat([text, decipher.final()]).toString("utf8");
  } catch {
    return null;
  }
}

/** A text column that holds its text sealed. Rows of older versions hold it plain and are read as they are. */
export const sealedText = customType<{ data: string; driverData: string }>({
  dataType: () => "text",
  toDriver: seal,
  fromDriver: (value) => (isSealed(value) ? open(value) : value),
});

/** As `sealedText` for JSON: sealed, the column's value is a JSON string. It cannot be looked into by SQL. */
export const sealedJson = <Data>(name: string) =>
  customType<{ data: Data; driverData: unknown }>({
    dataType: () => "jsonb",
    toDriver: (value) => JSON.stringify(seal(JSON.stringify(value))),
    fromDriver: (value) => (isSealed(value) ? (JSON.parse(open(value)) as Data) : (value as Data)),
  })(name);
