const MASK = "[masked]";

/** Names of what is secret, of inputs as of headers. */
const SECRET_NAME = /auth|cookie|token|secret|passw|credential|signature|session|api-?_?key|private-?_?key|[-_]key$|^key$/i;

/** Shorter ones would be found in innocent words. */
const SHORTEST = 6;

/** Whether a field or header of this name is masked wherever it is shown. */
export function isSecretName(name: string): boolean {
  return SECRET_NAME.test(name);
}

/** A value with everything in it masked that has a secret name, at any depth. */
export function maskSecrets(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(maskSecrets);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, isSecretName(name) && inner !== null && inner !== "" ? MASK : maskSecrets(inner)]));
}

/** Every text within a value that has a secret name, at any depth. */
export function secretsIn(value: unknown, secret = false): string[] {
  if (typeof value === "string") return secret && value.length >= SHORTEST ? [value] : [];
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
