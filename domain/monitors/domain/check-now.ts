import { inTransaction, type Database } from "../../../platform/postgres/database.ts";
import type { DomainCheck } from "../../../schemas/api/domain-monitors.ts";
import { lockDomainMonitor } from "./lock.ts";
import type { LookUp } from "./look-up.ts";
import { readDomainMonitor } from "./read.ts";
import { applyDomainCheck } from "./record.ts";

interface CheckNeeds {
  database: Database;
  lookUp: LookUp;
  now(): Date;
}

/** Looks a monitor's domain up at once, also a paused one's, with all that follows from a look-up. NOT_FOUND. */
export async function checkDomainMonitorNow({ database, lookUp, now }: CheckNeeds, organizationId: string, id: string): Promise<DomainCheck> {
  const { domain, lookupMethod } = await readDomainMonitor(database, organizationId, id);
  const lookup = await lookUp(domain, lookupMethod);
  const { status, daysUntilExpiry, registration, error } = await inTransaction(database, async (tx) => applyDomainCheck(tx, await lockDomainMonitor(tx, organizationId, id), { lookup, at: now(), ends: false }));
  return {
    status,
    days_until_expiry: daysUntilExpiry,
    expires_on: registration?.expiry_date ?? null,
    registrar: registration?.registrar ?? null,
    name_servers: registration?.nameservers ?? [],
    error,
  };
}
