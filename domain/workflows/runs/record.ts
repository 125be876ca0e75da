import { and, eq, lt, sql } from "drizzle-orm";
import { inTransaction, type Database, type Transaction } from "../../../platform/postgres/database.ts";
import { WORKFLOW_RUNS_KEPT } from "../../../schemas/plans.ts";
import { organizations, workflowRuns, workflows } from "../../../schemas/tables/all.ts";
import { storableJson } from "../../events/storable-json.ts";
import type { StepTrace } from "../../../schemas/api/workflows.ts";
import type { Position } from "./position.ts";
import type { ClaimedRun } from "./read-claimed.ts";

/** What a step leads to. `ended` is how the run ends; else it goes on at `position`, at once or at `dueAt`. */
export interface Progress {
  trace: StepTrace | null;
  /** Of a step with a name. */
  result?: { name: string; value: Record<string, unknown> };
  position: Position;
  failures: number;
  ended: "succeeded" | "failed" | null;
  /** When it goes on, where that is not at once; then the lease is given back. */
  dueAt: Date | null;
}

/** Thrown by `inStep`: another has taken the run over, or it was deleted. */
export class RunLost extends Error {}

/**
 * A transaction of a run that is still ours, whose events know what brought them about, so that no workflow starts itself again. RunLost when it is not
 * ours any more; then nothing was done.
 */
export async function inStep<T>(database: Database, run: ClaimedRun, work: (tx: Transaction) => Promise<T>): Promise<T> {
  return inTransaction(database, async (tx) => {
    const [held] = await tx.select({ id: workflowRuns.id }).from(workflowRuns).where(leased(run)).for("update");
    if (!held) throw new RunLost();
    await tx.execute(sql`select set_config('pharos.workflow_causes', ${`{${[...run.causes, run.workflowId].join(",")}}`}, true)`);
    return work(tx);
  });
}

/** Writes down how far a run has come, and holds its lease until `leaseEnd` while it goes on at once. */
export async function recordProgress(tx: Transaction, run: ClaimedRun, { trace, result, position, failures, ended, dueAt }: Progress, { at, leaseEnd }: { at: Date; leaseEnd: Date }): Promise<void> {
  const waits = ended === null && dueAt !== null;
  await tx
    .update(workflowRuns)
    .set({
      position,
      failures,
      begun: 0,
      status: ended ?? (waits ? "waiting" : "running"),
      finishedAt: ended === null ? null : at,
      dueAt: dueAt ?? leaseEnd,
      leaseToken: ended !== null || waits ? null : run.leaseToken,
      ...(trace && { trace: sql`${workflowRuns.trace} || ${storableJson([trace])}::jsonb` }),
      ...(result && { results: sql`${workflowRuns.results} || ${storableJson({ [result.name]: result.value })}::jsonb` }),
    })
    .where(leased(run));
}

/** Gives a claimed run back, to go on at once with whoever comes next. */
export async function releaseRun(database: Database, run: ClaimedRun, at: Date): Promise<void> {
  await database.update(workflowRuns).set({ leaseToken: null, dueAt: at, begun: 0 }).where(leased(run));
}

function leased({ id, leaseToken }: ClaimedRun) {
  return and(eq(workflowRuns.id, id), eq(workflowRuns.leaseToken, leaseToken));
}

const KEPT_MS = 30 * 86_400_000;
const BATCH = 1_000;

/**
 * Deletes runs that ended, beside as many of each workflow as its organization's plan keeps: a bounded number. True when there are more. Materialized, so that
 * each workflow is looked at once, whatever the planner knows of the tables.
 */
export async function forgetSurplusRuns(database: Database): Promise<boolean> {
  const { rowCount } = await database.execute(sql`
    with first_surplus as materialized (
      select workflow.id, (
        select created_at from ${workflowRuns} where workflow_id = workflow.id
        order by created_at desc offset (${JSON.stringify(WORKFLOW_RUNS_KEPT)}::jsonb ->> organization.plan::text)::int limit 1
      ) as at
      from ${workflows} as workflow join ${organizations} as organization on organization.id = workflow.organization_id
    ), surplus as materialized (
      select old.id from first_surplus cross join lateral (
        select id from ${workflowRuns} where workflow_id = first_surplus.id and created_at <= first_surplus.at and finished_at is not null
        order by created_at limit ${BATCH}
      ) as old
      where first_surplus.at is not null limit ${BATCH}
    )
    delete from ${workflowRuns} using surplus where ${workflowRuns.id} = surplus.id`);
  return rowCount === BATCH;
}

/** Deletes runs that ended more than 30 days ago. True when there are more. */
export async function forgetOldRuns(database: Database, now: Date): Promise<boolean> {
  const old = database.select({ id: workflowRuns.id }).from(workflowRuns).where(lt(workflowRuns.finishedAt, new Date(now.getTime() - KEPT_MS))).limit(BATCH);
  const { rowCount } = await database.delete(workflowRuns).where(sql`${workflowRuns.id} in (${old.getSQL()})`);
  return rowCount === BATCH;
}
