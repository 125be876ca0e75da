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

/** So many are looked for: each is looked for in everything. */
const MOST_SECRETS = 100;

/** A value without these texts, wherever they stand in it, also as they are written in URLs and in JSON. Of more than 100 secrets nothing is looked for: every text is masked. */
export function redact<T>(value: T, secrets: readonly string[]): T {
  if (secrets.length > MOST_SECRETS) return mapTexts(value, () => MASK) as T;
  const written = [...new Set(secrets.flatMap((secret) => [secret, encodeURIComponent(secret), JSON.stringify(secret).slice(1, -1)]))].toSorted((a, b) => b.length - a.length);
  const mask = (text: string) => written.reduce((rest, secret) => rest.replaceAll(secret, MASK), text);
  return written.length === 0 ? value : (mapTexts(value, mask, mask) as T);
}

function mapTexts(value: unknown, change: (text: string) => string, changeName = (name: string) => name): unknown {
  if (typeof value === "string") return change(value);
  if (Array.isArray(value)) return value.map((each) => mapTexts(each, change, changeName));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [changeName(name), mapTexts(inner, change, changeName)]));
}
