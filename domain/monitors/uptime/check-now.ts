import { eq } from "drizzle-orm";
import type { Clock } from "../../../platform/clock.ts";
import { Failure } from "../../../platform/failures.ts";
import { newId } from "../../../platform/ids.ts";
import { inTransaction, type Database } from "../../../platform/postgres/database.ts";
import type { UptimeCheck } from "../../../schemas/api/uptime-monitors.ts";
import { uptimeMonitors } from "../../../schemas/tables/all.ts";
import { UPTIME_LEASE_MS } from "./lease.ts";
import type { UptimeProbe } from "./probe.ts";
import { lockUptimeMonitor, type UptimeMonitorRow } from "./read.ts";
import { recordUptimeCheck } from "./record.ts";

interface CheckNeeds {
  database: Database;
  clock: Clock;
  probe: UptimeProbe;
}

/**
 * Checks a monitor now, paused or not, and answers with what that found: the check counts as any other, and the next regular one follows it. CONFLICT
 * while it is being checked already, or when it is changed meanwhile; NOT_FOUND.
 */
export async function checkUptimeNow({ database, clock, probe }: CheckNeeds, organizationId: string, id: string): Promise<UptimeCheck> {
  const { row, token } = await claimOne(database, clock, { organizationId, id });
  const result = await probe(row);
  const at = new Date(clock.now());
  const verdict = await recordUptimeCheck(database, row.id, { token, result, at });
  if (verdict === null) throw new Failure("CONFLICT", "The monitor was changed while it was checked.", { fix: "Check it again.", retryAfter: 1 });
  return { status: verdict, response_time_ms: result.responseTimeMs, status_code: result.statusCode, error: result.error, checked_at: at.toISOString() };
}

async function claimOne(database: Database, clock: Clock, { organizationId, id }: { organizationId: string; id: string }): Promise<{ row: UptimeMonitorRow; token: string }> {
  return inTransaction(database, async (tx) => {
    const row = await lockUptimeMonitor(tx, organizationId, id);
    const now = new Date(clock.now());
    if (row.leaseToken !== null && row.dueAt > now) throw new Failure("CONFLICT", "The monitor is being checked just now.", { fix: "Try again in a moment.", retryAfter: 1 });
    const token = newId();
    await tx.update(uptimeMonitors).set({ leaseToken: token, dueAt: new Date(now.getTime() + UPTIME_LEASE_MS) }).where(eq(uptimeMonitors.id, row.id));
    return { row, token };
  });
}
