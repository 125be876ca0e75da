import type { WorkflowStep } from "../../../schemas/api/workflows.ts";

/** Where a run is: the path of the step that comes next, as in `/2/then/0`; null at the end. A run begins at `/0`. */
export type Position = string | null;

/** The step at a position; null behind the end. */
export function stepAt(steps: readonly WorkflowStep[], position: Position): WorkflowStep | null {
  if (position === null) return null;
  let list: readonly WorkflowStep[] = steps;
  let step: WorkflowStep | null = null;
  for (const part of position.split("/").slice(1)) {
    if (part === "then" || part === "else") list = (step?.type === "condition" && step[part]) || [];
    else step = list[Number(part)] ?? null;
  }
  return step;
}

/** What comes after a step that is not a condition, or whose branch is empty: the next one beside it, else the next beside the condition that it stands in. */
export function after(steps: readonly WorkflowStep[], position: string): Position {
  const parts = position.split("/");
  const next = [...parts.slice(0, -1), Number(parts.at(-1)) + 1].join("/");
  if (stepAt(steps, next)) return next;
  return parts.length > 2 ? after(steps, parts.slice(0, -2).join("/")) : null;
}

/** What comes after a condition that was found to hold, or not to. */
export function branch(steps: readonly WorkflowStep[], position: string, holds: boolean): Position {
  const first = `${position}/${holds ? "then" : "else"}/0`;
  return stepAt(steps, first) ? first : after(steps, position);
}
