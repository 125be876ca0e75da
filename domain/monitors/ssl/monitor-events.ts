import { isIP } from "node:net";
import type { CertificateInFull } from "../../../schemas/api/ssl-monitors.ts";
import type { NewEvent } from "../../events/emit.ts";
import type { Decision } from "./decide.ts";
import type { SslMonitorRow } from "./read.ts";

/** What a check has to tell (specification §6); the monitor's name is its domain. */
export function checkEvents({ id, organizationId, domain, port }: SslMonitorRow, { tell, certificate, error }: Decision, at: Date): NewEvent[] {
  const subject = { id, name: domain, url: `https://${isIP(domain) === 6 ? `[${domain}]` : domain}${port === 443 ? "" : `:${port}`}` };
  const events: NewEvent[] = [];
  if (tell.down) events.push({ organizationId, type: "monitor.down", data: { ...subject, error }, at });
  if (tell.up) events.push({ organizationId, type: "monitor.up", data: subject, at });
  if (tell.expiring && certificate) events.push({ organizationId, type: "ssl.expiring", data: { id, domain, port, ...expiry(certificate) }, at });
  return events;
}

function expiry({ days_until_expiry, valid_to, issuer, subject, fingerprint }: CertificateInFull): Record<string, unknown> {
  return { days_until_expiry, expires_at: valid_to, issuer, subject, fingerprint };
}
