/** A random UUID: the end of a blob URL is one (File API, "generate a new blob URL"), also on pages without TLS, where `crypto.randomUUID` is missing. */
export function uuid(): string {
  const url = URL.createObjectURL(new Blob());
  URL.revokeObjectURL(url);
  return url.slice(-36);
}
