/** A random UUID, version 4. `crypto.randomUUID` is missing on pages without TLS, and pages replace `Math.random` by what repeats itself. */
export function uuid(): string {
  const random = crypto.getRandomValues(new Uint8Array(36));
  return "xxxxxxxx-xxxx-4xxx-axxx-xxxxxxxxxxxx".replace(/x/g, (_, at: number) => (random[at]! % 16).toString(16));
}
