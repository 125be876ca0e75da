import { Failure } from "../../platform/failures.ts";
import type { WorkflowStep } from "../../schemas/api/workflows.ts";
import { isSecretHeader, MASK } from "../secret-names.ts";
import { walkSteps } from "./walk-steps.ts";

type HttpStep = Extract<WorkflowStep, { type: "http_request" }>;

/** Steps as anybody may see them. A value that is a placeholder alone is no secret. */
export function maskHeaders(steps: readonly WorkflowStep[]): WorkflowStep[] {
  return mapRequests(steps, (_, header, value) => (isSecret(header, value) ? MASK : value));
}

/**
 * Steps that were sent back with masked values, with the stored ones in their place. A value is given back only to a request of the same
 * method and URL: otherwise whoever may change a workflow could have a secret, that nobody may read, sent to himself. INVALID_REQUEST.
 */
export function unmaskHeaders(steps: readonly WorkflowStep[], stored: readonly WorkflowStep[]): WorkflowStep[] {
  const kept = new Map<string, string>();
  for (const { step } of walkSteps(stored)) {
    if (step.type !== "http_request") continue;
    // A name tells two requests to one URL apart; without it the first counts.
    for (const [header, value] of Object.entries(step.headers ?? {})) {
      for (const name of [step.name, undefined]) if (!kept.has(keyOf(step, name, header))) kept.set(keyOf(step, name, header), value);
    }
  }
  for (const { step, path } of walkSteps(steps)) {
    if (step.type !== "http_request") continue;
    const lost = Object.entries(step.headers ?? {}).find(([header, value]) => value === MASK && restored(step, header) === undefined);
    if (lost) throw new Failure("INVALID_REQUEST", `The value of the header ${lost[0]} is masked, and no stored request of this method and URL has it.`, { path: `${path}/headers/${lost[0].replaceAll("~", "~0")}`, fix: "Give the value itself." });
  }
  return mapRequests(steps, (step, header, value) => (value === MASK ? restored(step, header)! : value));

  function restored(step: HttpStep, header: string): string | undefined {
    return kept.get(keyOf(step, step.name, header)) ?? kept.get(keyOf(step, undefined, header));
  }
}

function keyOf({ method, url }: HttpStep, name: string | undefined, header: string): string {
  return JSON.stringify([name ?? null, method, url, header.toLowerCase()]);
}

function isSecret(header: string, value: string): boolean {
  return isSecretHeader(header, value) && !/^\{\{[^{}]*\}\}$/.test(value);
}

function mapRequests(steps: readonly WorkflowStep[], map: (step: HttpStep, header: string, value: string) => string): WorkflowStep[] {
  return steps.map((step) => {
    // oxlint-disable-next-line unicorn/no-thenable -- a list, never a function
    if (step.type === "condition") return { ...step, then: mapRequests(step.then, map), ...(step.else && { else: mapRequests(step.else, map) }) };
    if (step.type !== "http_request" || !step.headers) return step;
    return { ...step, headers: Object.fromEntries(Object.entries(step.headers).map(([header, value]) => [header, map(step, header, value)])) };
  });
}
