import type { UpdateUptimeMonitor } from "../../../schemas/api/uptime-monitors.ts";
import { unhideRequest } from "./hidden-request.ts";
import type { UptimeMonitorRow } from "./read.ts";

/**
 * The monitor after a patch. What a check looks at, when it is changed, is looked at anew at once: a check in progress does not count any more.
 * Pausing forgets what was found; a monitor that goes on is pending. The service and the channels are left to check.
 * INVALID_REQUEST for a masked value that is lost.
 */
export function decideUpdate(row: UptimeMonitorRow, patch: UpdateUptimeMonitor, at: Date): UptimeMonitorRow {
  const changed = withPatch(row, patch, at);
  if (patch.enabled === false && row.enabled) return { ...changed, enabled: false, status: "paused", contrary: 0, leaseToken: null };
  if (patch.enabled === true && !row.enabled) return { ...changed, enabled: true, status: "pending", contrary: 0, leaseToken: null, dueAt: at };
  if (looksElsewhere(patch)) return { ...changed, contrary: 0, leaseToken: null, dueAt: at };
  // While a check is in progress `dueAt` is the end of its claim.
  return row.leaseToken === null ? { ...changed, dueAt: earlier(row.dueAt, new Date(at.getTime() + changed.intervalSeconds * 1_000)) } : changed;
}

function withPatch(row: UptimeMonitorRow, patch: UpdateUptimeMonitor, at: Date): UptimeMonitorRow {
  return {
    ...row,
    name: patch.name ?? row.name,
    url: patch.url ?? row.url,
    method: patch.method ?? row.method,
    ...(patch.headers !== undefined || patch.body !== undefined || patch.url !== undefined ? unhideRequest(patch, row, patch.url ?? row.url) : {}),
    intervalSeconds: patch.interval_seconds ?? row.intervalSeconds,
    timeoutMs: patch.timeout_ms ?? row.timeoutMs,
    expectedStatusCodes: patch.expected_status_codes ?? row.expectedStatusCodes,
    requiredKeyword: given(patch.required_keyword, row.requiredKeyword),
    followRedirects: patch.follow_redirects ?? row.followRedirects,
    verifySsl: patch.verify_ssl ?? row.verifySsl,
    failuresToDown: patch.failures_to_down ?? row.failuresToDown,
    successesToUp: patch.successes_to_up ?? row.successesToUp,
    degradedAfterMs: given(patch.degraded_after_ms, row.degradedAfterMs),
    createIncident: patch.create_incident ?? row.createIncident,
    serviceId: given(patch.service_id, row.serviceId),
    updatedAt: at > row.updatedAt ? at : row.updatedAt,
  };
}

/** Null is given, too. */
function given<Value>(patched: Value | undefined, stored: Value): Value {
  return patched === undefined ? stored : patched;
}

const LOOKED_AT = ["url", "method", "headers", "body", "timeout_ms", "expected_status_codes", "required_keyword", "follow_redirects", "verify_ssl"] as const satisfies (keyof UpdateUptimeMonitor)[];

function looksElsewhere(patch: UpdateUptimeMonitor): boolean {
  return LOOKED_AT.some((field) => patch[field] !== undefined);
}

function earlier(one: Date, other: Date): Date {
  return one < other ? one : other;
}
