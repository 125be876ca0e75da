import { Failure } from "../../platform/failures.ts";
import type { Workflow, WorkflowStep } from "../../schemas/api/workflows.ts";
import type { EventType, Scope } from "../../schemas/vocabulary.ts";
import { holdsScope } from "../api-keys/judge.ts";
import { walkSteps } from "./walk-steps.ts";

/** What the REST call needs that does the same; null where a step does nothing here. */
const STEP_SCOPES: Record<WorkflowStep["type"], Scope | null> = {
  http_request: null,
  set_service_status: "services:write",
  create_incident: "incidents:write",
  update_incident: "incidents:write",
  notify: "notifications:write",
  wait: null,
  condition: null,
};

const FAMILY_SCOPES: Record<string, Scope> = {
  incident: "incidents:read",
  service: "services:read",
  maintenance: "maintenance:read",
  webhook: "notifications:read",
};

/** The scope that a step needs, or null. */
export function stepScope({ type }: WorkflowStep): Scope | null {
  return STEP_SCOPES[type];
}

/** The scope that shows what events of a type tell: a run may send it anywhere. */
export function eventScope(event: EventType): Scope {
  return FAMILY_SCOPES[event.split(".")[0]!] ?? "monitors:read";
}

/** Makes sure that who saves a workflow may do itself what it will do. INSUFFICIENT_SCOPE naming the first scope that lacks, with the place. */
export function requireScopes(held: readonly string[], trigger: Workflow["trigger"], steps: readonly WorkflowStep[]): void {
  const wanted: { scope: Scope | null; path: string }[] = [
    ...(trigger.type === "event" ? [{ scope: eventScope(trigger.event), path: "/trigger/event" }] : []),
    ...[...walkSteps(steps)].map(({ step, path }) => ({ scope: stepScope(step), path })),
  ];
  const missing = wanted.find(({ scope }) => scope !== null && !holdsScope(held, scope));
  if (!missing) return;
  throw new Failure("INSUFFICIENT_SCOPE", `Insufficient scope: ${missing.scope} required`, { path: missing.path, fix: "A workflow does what the key may do that saves it. Use a key that has this scope too." });
}
