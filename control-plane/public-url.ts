import type { Config } from "../platform/config.ts";

/** The address that people use, without a slash at its end: PUBLIC_URL, else this machine's own. */
export function publicUrl({ PUBLIC_URL, PORT }: Config): string {
  return (PUBLIC_URL ?? `http://localhost:${PORT}`).replace(/\/+$/, "");
}
