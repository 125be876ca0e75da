import type { IncidentSeverity, IncidentStatus } from "../../schemas/vocabulary.ts";

interface IncidentState {
  title: string;
  status: IncidentStatus;
  severity: IncidentSeverity;
  resolvedAt: Date | null;
  openedBy: string | null;
  updatedAt: Date;
}

/** The new values of a changed incident, and which event tells of it. */
interface DecidedChange {
  next: IncidentState;
  event: "incident.updated" | "incident.resolved";
}

/**
 * Any status may follow any: entering `resolved` sets `resolvedAt`, leaving it clears it. `at` is moved behind
 * the incident's last change, so that of two racing changes the later one also carries the later time.
 */
export function decideIncidentChange(current: IncidentState, patch: { title?: string; status?: IncidentStatus; severity?: IncidentSeverity }, at: Date): DecidedChange {
  const updatedAt = new Date(Math.max(at.getTime(), current.updatedAt.getTime() + 1));
  const status = patch.status ?? current.status;
  const resolves = status === "resolved" && current.status !== "resolved";
  const reopens = status !== "resolved" && current.status === "resolved";
  return {
    next: {
      title: patch.title ?? current.title,
      severity: patch.severity ?? current.severity,
      status,
      resolvedAt: resolves ? updatedAt : reopens ? null : current.resolvedAt,
      // A reopened incident is a person's: its automatism may have opened another one meanwhile.
      openedBy: reopens ? null : current.openedBy,
      updatedAt,
    },
    event: resolves ? "incident.resolved" : "incident.updated",
  };
}
