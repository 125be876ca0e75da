import { Failure } from "../../platform/failures.ts";
import type { Workflow } from "../../schemas/api/workflows.ts";
import { cronProblem } from "../heartbeats/schedule.ts";

/** The trigger that was asked for. INVALID_REQUEST for a cron expression that is none. */
export function checkTrigger(trigger: Workflow["trigger"]): Workflow["trigger"] {
  if (trigger.type !== "schedule") return trigger;
  const problem = cronProblem(trigger.cron);
  if (problem !== null) throw new Failure("INVALID_REQUEST", problem, { path: "/trigger/cron", fix: 'For example "*/15 * * * *" or "0 3 * * MON-FRI".' });
  return { ...trigger, cron: trigger.cron.trim() };
}
