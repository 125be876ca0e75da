import { Failure } from "../../../platform/failures.ts";
import { inTransaction, isPostgresAway, type Database } from "../../../platform/postgres/database.ts";
import type { Clock } from "../../../platform/clock.ts";
import type { Config } from "../../../platform/config.ts";
import type { Log } from "../../../platform/log.ts";
import type { Outbound } from "../../../platform/outbound/outbound.ts";
import type { StepTrace, WorkflowStep } from "../../../schemas/api/workflows.ts";
import { disableWorkflowsOf } from "../disable.ts";
import { carryOut, type Carried } from "./carry-out.ts";
import { StepFailure } from "./fill-templates.ts";
import { countStep } from "./count-step.ts";
import { after, stepAt } from "./position.ts";
import { scopeOf, type ClaimedRun } from "./read-claimed.ts";
import { inStep, recordProgress, RunLost, type Progress } from "./record.ts";
import { requireRights, SaverGone } from "./require-rights.ts";
import { maskSecrets, redact, secretsIn } from "./redact.ts";
import { prepareRequest, sendRequest, type Requested, type RequestStep } from "./request.ts";

interface StepNeeds {
  database: Database;
  outbound: Outbound;
  clock: Clock;
  config: Pick<Config, "WEBHOOK_ALLOW_HTTP">;
  log: Log;
  signal: AbortSignal;
  leaseMs: number;
}

/** A failed request is tried again after these, in ms; then the run fails. */
const RETRY_DELAYS = [5_000, 30_000];
/** A step that ends its process is not given to one after the other for ever. */
const MOST_BEGINNINGS = 5;

/** What the run is afterwards, when it goes on at once; `stopped` when the step was given up before it brought anything. */
type Taken = { kind: "on"; run: ClaimedRun } | { kind: "over" } | { kind: "stopped" };

/**
 * Takes the next step of a run and writes down what it brought: a step that was recorded is never taken again. RunLost when another has the run by now.
 */
export async function takeStep(run: ClaimedRun, needs: StepNeeds): Promise<Taken> {
  const { position } = run;
  const step = stepAt(run.steps, position);
  if (position === null || !step) return end(run, needs);
  const begun = needs.clock.now();
  const secrets = secretsIn(run.inputs);
  const traced = (outcome: StepTrace["outcome"], rest: Partial<StepTrace>, more: readonly string[] = []): StepTrace => ({
    path: `/steps${position}`,
    name: step.name ?? null,
    type: step.type,
    outcome,
    attempt: run.failures + 1,
    started_at: new Date(begun).toISOString(),
    finished_at: new Date(needs.clock.now()).toISOString(),
    ...redact(maskSecrets(rest) as Partial<StepTrace>, [...secrets, ...more]),
  });
  try {
    if (run.begun > MOST_BEGINNINGS) throw new StepFailure(`This step was begun ${MOST_BEGINNINGS} times, and the process that took it ended each time.`);
    await countStep(needs.database, run.organizationId, new Date(begun));
    if (step.type === "http_request") return await request(run, { step, position }, needs, traced);
    return await inStep(needs.database, run, async (tx) => {
      const at = new Date(needs.clock.now());
      const carried = await carryOut(tx, step, { run, position, scope: scopeOf(run), at });
      return store(tx, run, succeeded(step, carried, traced("succeeded", { result: carried.result })), needs);
    });
  } catch (error) {
    const sentence = sentenceOf(error, needs.log, run);
    // Before the run's own transaction: whoever locks both locks the workflow first.
    if (error instanceof SaverGone) await inTransaction(needs.database, (tx) => disableWorkflowsOf(tx, { organizationId: run.organizationId, keyId: run.savedBy.id! }, error.reason, new Date(needs.clock.now())));
    return inStep(needs.database, run, (tx) => store(tx, run, { trace: traced("failed", { error: sentence }), position, failures: 0, ended: "failed", dueAt: null }, needs));
  }
}

type Traced = (outcome: StepTrace["outcome"], rest: Partial<StepTrace>, more?: readonly string[]) => StepTrace;

async function request(run: ClaimedRun, { step, position }: { step: RequestStep; position: string }, needs: StepNeeds, traced: Traced): Promise<Taken> {
  await requireRights(needs.database, run, step, new Date(needs.clock.now()));
  const prepared = prepareRequest(step, scopeOf(run), needs);
  const requested = await sendRequest(prepared, `${run.id}:${position}`, needs);
  if (requested.kind === "stopped") return requested;
  return inStep(needs.database, run, (tx) => store(tx, run, progressOf(run, { step, position, requested, at: needs.clock.now() }, (outcome, rest) => traced(outcome, rest, prepared.secrets)), needs));
}

function progressOf(run: ClaimedRun, { step, position, requested, at }: { step: RequestStep; position: string; requested: Exclude<Requested, { kind: "stopped" }>; at: number }, traced: Traced): Progress {
  if (requested.kind === "answered") return succeeded(step, { result: requested.result, next: after(run.steps, position) }, traced("succeeded", { result: requested.shown }));
  const delay = RETRY_DELAYS[run.failures];
  const rest = { error: requested.error, result: requested.shown };
  if (delay === undefined) return { trace: traced("failed", rest), position, failures: 0, ended: "failed", dueAt: null };
  return { trace: traced("retried", rest), position, failures: run.failures + 1, ended: null, dueAt: new Date(at + delay) };
}

function succeeded({ name }: WorkflowStep, { result, next, until }: Carried, trace: StepTrace): Progress {
  return { trace, ...(name !== undefined && { result: { name, value: result } }), position: next, failures: 0, ended: next === null && !until ? "succeeded" : null, dueAt: until ?? null };
}

/** Nothing is left to do, as after a wait that was the last step. */
function end(run: ClaimedRun, needs: StepNeeds): Promise<Taken> {
  return inStep(needs.database, run, (tx) => store(tx, run, { trace: null, position: null, failures: 0, ended: "succeeded", dueAt: null }, needs));
}

async function store(tx: Parameters<typeof recordProgress>[0], run: ClaimedRun, progress: Progress, { clock, leaseMs }: StepNeeds): Promise<Taken> {
  const at = new Date(clock.now());
  await recordProgress(tx, run, progress, { at, leaseEnd: new Date(at.getTime() + leaseMs) });
  if (progress.ended !== null || progress.dueAt !== null) return { kind: "over" };
  const { position, failures, result } = progress;
  return { kind: "on", run: { ...run, position, failures, begun: 0, results: result ? { ...run.results, [result.name]: result.value } : run.results } };
}

/** For the workflow's owner. Throws on what is not the step's own fault: the run goes on when its lease has ended. */
function sentenceOf(error: unknown, log: Log, run: ClaimedRun): string {
  if (error instanceof StepFailure) return error.message;
  if (error instanceof Failure && error.code !== "UNAVAILABLE" && error.code !== "INTERNAL") return error.message;
  if (!(error instanceof Error) || error instanceof RunLost || isPostgresAway(error)) throw error;
  log.error({ err: error, run_id: run.id, position: run.position }, "a step of a workflow could not be carried out");
  return "Pharos could not carry this step out; its operator finds the reason in the log.";
}
