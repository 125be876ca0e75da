import { Failure } from "../../platform/failures.ts";
import type { Workflow } from "../../schemas/api/workflows.ts";
import { cronProblem, turnMs } from "../heartbeats/schedule.ts";

const LEAST_TURN_MS = 60_000;

/** The trigger that was asked for. INVALID_REQUEST for a cron expression that is none, or comes due oftener than once a minute. */
export function checkTrigger(trigger: Workflow["trigger"]): Workflow["trigger"] {
  if (trigger.type !== "schedule") return trigger;
  const problem = cronProblem(trigger.cron);
  if (problem !== null) throw new Failure("INVALID_REQUEST", problem, { path: "/trigger/cron", fix: 'For example "*/15 * * * *" or "0 3 * * MON-FRI".' });
  const cron = trigger.cron.trim();
  if (turnMs({ scheduleType: "cron", intervalSeconds: null, cron, timezone: "UTC" }, Date.now()) < LEAST_TURN_MS) {
    throw new Failure("INVALID_REQUEST", "A workflow is started by its schedule once a minute at most.", { path: "/trigger/cron", fix: "Leave out the field of seconds in front." });
  }
  return { ...trigger, cron };
}
