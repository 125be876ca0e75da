import type { Config } from "./config.ts";

/** The address that people use, without a slash at its end: PUBLIC_URL, else this machine's own. */
export function publicUrl({ PUBLIC_URL, PORT }: Pick<Config, "PUBLIC_URL" | "PORT">): string {
  return (PUBLIC_URL ?? `http://localhost:${PORT}`).replace(/\/+$/, "");
}
