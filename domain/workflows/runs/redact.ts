import { isSecretName, MASK } from "../../secret-names.ts";

/** Shorter ones would be found in innocent words. */
const SHORTEST = 6;

/** A value with everything in it masked that has a secret name, at any depth. */
export function maskSecrets(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(maskSecrets);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, isSecretName(name) && inner !== null && inner !== "" ? MASK : maskSecrets(inner)]));
}

/** Every text and number within a value that has a secret name, at any depth. */
export function secretsIn(value: unknown, secret = false): string[] {
  if (typeof value === "string" || typeof value === "number") return secret && String(value).length >= SHORTEST ? [String(value)] : [];
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([name, inner]) => secretsIn(inner, secret || (!Array.isArray(value) && isSecretName(name))));
}

/** A value without these texts, wherever they stand in it, also as they are written in URLs and in JSON. */
export function redact<T>(value: T, secrets: readonly string[]): T {
  const written = [...new Set(secrets.flatMap((secret) => [secret, encodeURIComponent(secret), JSON.stringify(secret).slice(1, -1)]))].toSorted((a, b) => b.length - a.length);
  return written.length === 0 ? value : (redactAll(value, written) as T);
}

function redactAll(value: unknown, secrets: readonly string[]): unknown {
  if (typeof value === "string") return secrets.reduce((text, secret) => text.replaceAll(secret, MASK), value);
  if (Array.isArray(value)) return value.map((each) => redactAll(each, secrets));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [redactAll(name, secrets), redactAll(inner, secrets)]));
}
