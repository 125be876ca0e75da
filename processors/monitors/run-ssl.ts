import { inArray } from "drizzle-orm";
import { makeCertificateProbe, PROBE_TIMEOUT_MS, type ProbeResult } from "../../domain/monitors/ssl/probe.ts";
import { recordSslCheck } from "../../domain/monitors/ssl/record.ts";
import { sslMonitors } from "../../schemas/tables/all.ts";
import type { MonitorRunner } from "./run-due.ts";

interface SslRow {
  id: string;
  organizationId: string;
  domain: string;
  port: number;
}

const RECORD_MS = 15_000;

/** Handshakes are short, but each is a computation. */
const AT_ONCE = 50;

/** How SSL monitors are checked. Throws when OUTBOUND_CA_FILE cannot be read. */
export function sslRunner(config: Parameters<typeof makeCertificateProbe>[0]["config"]): MonitorRunner<SslRow, ProbeResult> {
  const probe = makeCertificateProbe({ config });
  return {
    table: sslMonitors,
    leaseMs: PROBE_TIMEOUT_MS + RECORD_MS,
    atOnce: AT_ONCE,
    read: (database, ids) => database.select({ id: sslMonitors.id, organizationId: sslMonitors.organizationId, domain: sslMonitors.domain, port: sslMonitors.port }).from(sslMonitors).where(inArray(sslMonitors.id, ids)),
    check: ({ domain, port }, signal) => probe({ host: domain, port, signal }),
    record: (database, { id }, claim) => recordSslCheck(database, id, claim),
  };
}
