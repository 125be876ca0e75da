import type { IncomingHttpHeaders } from "node:http";

/**
 * Whether a visitor speaks https to whatever stands before us: a proxy says so, or the operator by PUBLIC_URL. Anybody may say so,
 * which is why it may decide only over what is sent to them alone.
 */
export function cameByHttps({ host, "x-forwarded-proto": forwarded }: IncomingHttpHeaders, publicUrl: string): boolean {
  // The leftmost is the first proxy's word; Node joins several headers of the name by commas.
  const [outermost = ""] = String(forwarded ?? "").split(",");
  const { protocol, host: publicHost } = new URL(publicUrl);
  return outermost.trim().toLowerCase() === "https" || (protocol === "https:" && publicHost === host);
}
