import { inTransaction, type Database } from "../../../platform/postgres/database.ts";
import type { SslCheck } from "../../../schemas/api/ssl-monitors.ts";
import { lockSslMonitor } from "./lock.ts";
import type { CertificateProbe } from "./probe.ts";
import { readSslMonitor } from "./read.ts";
import { applySslCheck } from "./record.ts";

interface CheckNeeds {
  database: Database;
  probe: CertificateProbe;
  now(): Date;
}

/** Checks a monitor at once, also a paused one, with all that follows from a check. NOT_FOUND. */
export async function checkSslMonitorNow({ database, probe, now }: CheckNeeds, organizationId: string, id: string): Promise<SslCheck> {
  const { domain, port } = await readSslMonitor(database, organizationId, id);
  const result = await probe({ host: domain, port });
  const at = now();
  const { decision } = await inTransaction(database, async (tx) => applySslCheck(tx, await lockSslMonitor(tx, organizationId, id), { result, at, ends: false }));
  const { status, error, certificate } = decision;
  return {
    status,
    days_until_expiry: certificate?.days_until_expiry ?? null,
    valid_to: certificate?.valid_to ?? null,
    issuer: certificate?.issuer ?? null,
    subject: certificate?.subject ?? null,
    error,
    response_time_ms: result.responseTimeMs,
  };
}
