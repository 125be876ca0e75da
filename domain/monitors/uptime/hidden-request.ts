import { Failure } from "../../../platform/failures.ts";
import { MASK } from "../../secret-names.ts";
import { unmaskHeaders } from "../../webhooks/unmask-headers.ts";
import type { UptimeMonitorRow } from "./read.ts";

type Hidden = Pick<UptimeMonitorRow, "headers" | "body">;

/** What a monitor sends, as anybody may see it: any header and the body can hold a secret. */
export function hideRequest({ headers, body }: Hidden): Hidden {
  return { headers: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, value === "" ? "" : MASK])), body: body === null || body === "" ? body : MASK };
}

/**
 * What a monitor is to send after a change. A value that is left out, or sent back as it is shown, is the stored one while the URL stays at its origin:
 * whoever may change a monitor must not have a secret, that they may not read, sent to themselves. INVALID_REQUEST with the place of a value that is lost.
 */
export function unhideRequest(given: { [Name in keyof Hidden]?: Hidden[Name] | undefined }, stored: Pick<UptimeMonitorRow, "url" | "headers" | "body"> | null, url: string): Hidden {
  const shown = stored === null ? { headers: {}, body: null } : hideRequest(stored);
  const headers = unmaskHeaders(given.headers ?? shown.headers, stored, url);
  const body = given.body === undefined ? shown.body : given.body;
  if (body !== MASK) return { headers, body };
  const isKept = stored !== null && stored.body !== null && new URL(stored.url).origin === new URL(url).origin;
  if (!isKept) throw new Failure("INVALID_REQUEST", "The body is masked, and no value of it is stored for this origin.", { path: "/body", fix: "Send the body itself, or null for none." });
  return { headers, body: stored.body };
}
