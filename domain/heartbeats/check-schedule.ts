import { Failure } from "../../platform/failures.ts";
import type { ScheduleType } from "../../schemas/vocabulary.ts";
import { cronProblem, timezoneProblem, type Schedule } from "./schedule.ts";

interface WantedSchedule {
  schedule_type: ScheduleType;
  interval_seconds: number | null;
  cron: string | null;
  timezone: string;
}

/**
 * The schedule that was asked for, with only the figure that its type uses. INVALID_REQUEST with the path of a
 * figure that is missing, a cron expression or a time zone that is none.
 */
export function checkSchedule({ schedule_type: scheduleType, interval_seconds: intervalSeconds, cron, timezone }: WantedSchedule): Schedule {
  const zoneProblem = timezoneProblem(timezone);
  if (zoneProblem !== null) throw new Failure("INVALID_REQUEST", zoneProblem, { path: "/timezone" });
  if (scheduleType === "interval") {
    if (intervalSeconds === null) throw new Failure("INVALID_REQUEST", "A monitor on an interval needs interval_seconds.", { path: "/interval_seconds", fix: "Give interval_seconds, or cron." });
    return { scheduleType, intervalSeconds, cron: null, timezone };
  }
  if (cron === null) throw new Failure("INVALID_REQUEST", "A monitor on a cron schedule needs cron.", { path: "/cron", fix: 'Give cron, for example "0 3 * * *".' });
  const problem = cronProblem(cron);
  if (problem !== null) throw new Failure("INVALID_REQUEST", problem, { path: "/cron", fix: 'For example "*/15 * * * *" or "0 3 * * MON-FRI".' });
  return { scheduleType, intervalSeconds: null, cron: cron.trim(), timezone };
}
