import { Failure } from "../../platform/failures.ts";
import type { MaintenanceWindow, UpdateMaintenanceWindow } from "../../schemas/api/maintenance-windows.ts";
import type { EventType } from "../../schemas/vocabulary.ts";
import { normalRrule, rruleProblem } from "./check-rrule.ts";

type MaintenanceStatus = MaintenanceWindow["status"];

/** What of a window a change can touch. */
interface WindowState {
  title: string;
  description: string;
  status: MaintenanceStatus;
  startsAt: Date;
  endsAt: Date;
  rrule: string | null;
  autoStart: boolean;
  autoComplete: boolean;
  notifyBeforeMinutes: number | null;
  updatedAt: Date;
}

interface DecidedChange {
  next: WindowState;
  /** What is told when the status moves; a cancelled window is told of by its updates alone. */
  event: Extract<EventType, `maintenance.${string}`> | null;
}

/** Where a window can go from each status; completed and cancelled are the end. */
const NEXT: Record<MaintenanceStatus, readonly MaintenanceStatus[]> = {
  scheduled: ["in_progress", "cancelled"],
  in_progress: ["completed", "cancelled"],
  completed: [],
  cancelled: [],
};

const EVENTS: Partial<Record<MaintenanceStatus, DecidedChange["event"]>> = { in_progress: "maintenance.started", completed: "maintenance.completed" };

/**
 * A window after a change; what is left out stays, and the status that it has already is no change. `at` is moved behind the last
 * change, so that of two racing ones the later also carries the later time. CONFLICT for a status that cannot follow; INVALID_REQUEST for times or a rule.
 */
export function decideWindowChange(current: WindowState, patch: Omit<UpdateMaintenanceWindow, "services">, at: Date): DecidedChange {
  const status = patch.status ?? current.status;
  if (status !== current.status && !NEXT[current.status].includes(status)) throw cannotFollow(current.status, status);
  const startsAt = patch.starts_at === undefined ? current.startsAt : new Date(patch.starts_at);
  const endsAt = patch.ends_at === undefined ? current.endsAt : new Date(patch.ends_at);
  const scheduleChanged = patch.starts_at !== undefined || patch.ends_at !== undefined || patch.rrule !== undefined;
  const wanted = patch.rrule === undefined ? current.rrule : patch.rrule;
  const rrule = scheduleChanged ? checkTimes(startsAt, endsAt, wanted, patch.ends_at === undefined ? "/starts_at" : "/ends_at") : current.rrule;
  return {
    next: {
      title: patch.title ?? current.title,
      description: patch.description ?? current.description,
      status,
      startsAt,
      endsAt,
      rrule,
      autoStart: patch.auto_start ?? current.autoStart,
      autoComplete: patch.auto_complete ?? current.autoComplete,
      notifyBeforeMinutes: patch.notify_before_minutes === undefined ? current.notifyBeforeMinutes : patch.notify_before_minutes,
      updatedAt: new Date(Math.max(at.getTime(), current.updatedAt.getTime() + 1)),
    },
    event: status === current.status ? null : (EVENTS[status] ?? null),
  };
}

/** The rule as it is stored. INVALID_REQUEST for a window that ends before it starts, or a rule that is none. */
export function checkTimes(startsAt: Date, endsAt: Date, rrule: string | null, path = "/ends_at"): string | null {
  if (endsAt <= startsAt) throw new Failure("INVALID_REQUEST", "ends_at must be after starts_at.", { path, fix: "Give times with their offset, such as 2026-05-04T22:00:00Z." });
  if (rrule === null) return null;
  const problem = rruleProblem(rrule, startsAt);
  if (problem) throw new Failure("INVALID_REQUEST", problem.sentence, { path: "/rrule", fix: problem.fix });
  return normalRrule(rrule);
}

function cannotFollow(from: MaintenanceStatus, to: MaintenanceStatus): Failure {
  const next = NEXT[from];
  const fix = next.length > 0 ? `From ${from} it can go to ${next.join(" or ")}.` : "Create another window.";
  return new Failure("CONFLICT", `A maintenance window that is ${from} cannot become ${to}.`, { path: "/status", fix });
}
