import type { UpdateHeartbeatMonitor } from "../../schemas/api/heartbeat-monitors.ts";
import { checkSchedule } from "./check-schedule.ts";
import type { HeartbeatMonitorRow } from "./read.ts";
import { nextExpectedAt, type Schedule } from "./schedule.ts";

/**
 * The monitor after a patch. Pausing forgets what was expected and the runs in progress; a monitor that goes on is new until its next ping.
 * Under another schedule the next ping is expected as if the last had come under it, but never in the past.
 * The pace of pings is judged anew then. The service and the channels are left to check. INVALID_REQUEST as `checkSchedule`.
 */
export function decideUpdate(row: HeartbeatMonitorRow, patch: UpdateHeartbeatMonitor, at: Date): HeartbeatMonitorRow {
  const schedule = checkSchedule({
    schedule_type: patch.schedule_type ?? typeOf(patch) ?? row.scheduleType,
    interval_seconds: patch.interval_seconds ?? row.intervalSeconds,
    cron: patch.cron ?? row.cron,
    timezone: patch.timezone ?? row.timezone,
  });
  const changed: HeartbeatMonitorRow = {
    ...row,
    ...schedule,
    name: patch.name ?? row.name,
    slug: patch.slug ?? row.slug,
    graceSeconds: patch.grace_seconds ?? row.graceSeconds,
    maxRuntimeSeconds: patch.max_runtime_seconds === undefined ? row.maxRuntimeSeconds : patch.max_runtime_seconds,
    serviceId: patch.service_id === undefined ? row.serviceId : patch.service_id,
    updatedAt: at > row.updatedAt ? at : row.updatedAt,
  };
  if (patch.enabled === false) return { ...changed, status: "paused", nextExpectedAt: null, lastStartAt: null, memory: { ...row.memory, open: [], oks: [] }, warning: null };
  if (patch.enabled === true && row.status === "paused") return { ...changed, status: "new", nextExpectedAt: null };
  if (isSame(row, schedule)) return changed;
  const anew = { ...changed, memory: { ...row.memory, oks: [] }, warning: null };
  if (row.nextExpectedAt === null) return anew;
  return { ...anew, status: "up", nextExpectedAt: new Date(expectedUnder(schedule, row.lastPingAt ?? at, at)) };
}

/** The type follows from the figure that was given, when only one was. */
function typeOf({ interval_seconds: interval, cron }: UpdateHeartbeatMonitor): Schedule["scheduleType"] | null {
  if (interval !== undefined && cron === undefined) return "interval";
  return cron !== undefined && interval === undefined ? "cron" : null;
}

function isSame(before: Schedule, now: Schedule): boolean {
  return before.scheduleType === now.scheduleType && before.intervalSeconds === now.intervalSeconds && before.cron === now.cron && before.timezone === now.timezone;
}

function expectedUnder(schedule: Schedule, lastPingAt: Date, at: Date): number {
  const next = nextExpectedAt(schedule, lastPingAt.getTime());
  return next > at.getTime() ? next : nextExpectedAt(schedule, at.getTime());
}
