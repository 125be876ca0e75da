/** Stands for a value that nobody may read. */
export const MASK = "[masked]";

/** What authenticates, by its usual names and by words that such names hold: headers, and inputs of workflows. */
const SECRET_NAME = /auth|cookie|token|secret|passw|credential|signature|session|api-?_?key|private-?_?key|[-_]key$|^key$/i;

/** Whether a field or header of this name is masked wherever it is shown. */
export function isSecretName(name: string): boolean {
  return SECRET_NAME.test(name);
}

/** Whether a header that somebody set holds a secret; an empty value hides nothing. */
export function isSecretHeader(name: string, value: string): boolean {
  return value !== "" && isSecretName(name);
}

/** Headers as anybody may see them. */
export function maskSecretHeaders(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, isSecretHeader(name, value) ? MASK : value]));
}
