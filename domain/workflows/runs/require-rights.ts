import { Failure } from "../../../platform/failures.ts";
import type { Queries } from "../../../platform/postgres/database.ts";
import type { WorkflowStep } from "../../../schemas/api/workflows.ts";
import type { EventType } from "../../../schemas/vocabulary.ts";
import type { Actor } from "../../actor.ts";
import { readHeldRights } from "../../api-keys/held-rights.ts";
import { holdsScope } from "../../api-keys/judge.ts";
import { eventScope, stepScope } from "../required-scopes.ts";
import { StepFailure } from "./fill-templates.ts";
import type { ClaimedRun } from "./read-claimed.ts";

/** The key that saved a run's workflow does not work any more. */
export class SaverGone extends StepFailure {
  readonly reason: string;

  constructor(reason: string) {
    super(`${reason} The workflow is disabled.`);
    this.reason = reason;
  }
}

/** Who a run acts as, for tenancy and the audit log. */
export function runActor({ organizationId, workflowName, savedBy: { type, id, name } }: ClaimedRun): Actor {
  return { organizationId, type, id, name: `${name}, by workflow ${workflowName}`, ip: null, userAgent: null };
}

/** Makes sure that who saved the run's steps may do the next one now. SaverGone; StepFailure for a scope that lacks. */
export async function requireRights(queries: Queries, run: ClaimedRun, step: WorkflowStep, at: Date): Promise<void> {
  const { scopes } = await readHeldRights(queries, runActor(run), at).catch((error: unknown) => {
    if (!(error instanceof Failure) || error.code !== "UNAUTHENTICATED") throw error;
    throw new SaverGone(`The API key "${run.savedBy.name}" that saved this workflow was revoked or has expired.`);
  });
  const wanted = [stepScope(step), run.event && eventScope(run.event.type as EventType)];
  const missing = wanted.find((scope) => scope !== null && !holdsScope(scopes, scope));
  if (missing) throw new StepFailure(`The API key "${run.savedBy.name}" that saved this workflow has no scope ${missing}.`);
}
