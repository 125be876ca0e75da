import { createCipheriv, createDecipheriv, createHmac, randomBytes } from "node:crypto";
import { customType } from "drizzle-orm/pg-core";

/** Stands before what is sealed: AES-256-GCM, nonce, text and tag in base64. */
const PREFIX = "sealed1:";
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

let secretsKey: Buffer | null = null;

/** From here on this process seals and opens columns with this key of 32 bytes. */
export function useSecretsKey(key: Buffer): void {
  secretsKey = key;
}

/** What may lie beside sealed values, so that a wrong key is noticed; it does not tell the key. */
export function fingerprintOf(key: Buffer): string {
  return createHmac("sha256", key).update("pharos secrets key").digest("base64url");
}

export function isSealed(value: unknown): value is string {
  return typeof value === "string" && value.startsWith(PREFIX);
}

function keyOrThrow(): Buffer {
  if (secretsKey === null) throw new Error("a secret was asked for before SECRETS_KEY was read");
  return secretsKey;
}

function seal(text: string): string {
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv("aes-256-gcm", keyOrThrow(), nonce);
  return PREFIX + Buffer.concat([nonce, cipher.update(text, "utf8"), cipher.final(), cipher.getAuthTag()]).toString("base64");
}

function open(sealed: string): string {
  const bytes = Buffer.from(sealed.slice(PREFIX.length), "base64");
  const decipher = createDecipheriv("aes-256-gcm", keyOrThrow(), bytes.subarray(0, NONCE_BYTES));
  decipher.setAuthTag(bytes.subarray(bytes.length - TAG_BYTES));
  return Buffer.concat([decipher.update(bytes.subarray(NONCE_BYTES, bytes.length - TAG_BYTES)), decipher.final()]).toString("utf8");
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
