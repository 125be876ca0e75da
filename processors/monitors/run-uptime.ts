import { inArray } from "drizzle-orm";
import { UPTIME_LEASE_MS } from "../../domain/monitors/uptime/lease.ts";
import type { ProbeResult, UptimeProbe } from "../../domain/monitors/uptime/probe.ts";
import type { UptimeMonitorRow } from "../../domain/monitors/uptime/read.ts";
import { recordUptimeCheck } from "../../domain/monitors/uptime/record.ts";
import { uptimeMonitors } from "../../schemas/tables/all.ts";
import type { MonitorRunner } from "./run-due.ts";

/** Most of a check is waiting. */
const AT_ONCE = 1_000;

export function uptimeRunner(probe: UptimeProbe): MonitorRunner<UptimeMonitorRow, ProbeResult> {
  return {
    table: uptimeMonitors,
    leaseMs: UPTIME_LEASE_MS,
    atOnce: AT_ONCE,
    read: (database, ids) => database.select().from(uptimeMonitors).where(inArray(uptimeMonitors.id, ids)),
    check: probe,
    record: async (database, { id }, claim) => void (await recordUptimeCheck(database, id, claim)),
  };
}
