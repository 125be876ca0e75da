import { and, eq, inArray, sql, type SQL } from "drizzle-orm";
import { claimDue } from "../../../platform/claim-due.ts";
import { inTransaction, type Database } from "../../../platform/postgres/database.ts";
import type { WorkflowStep } from "../../../schemas/api/workflows.ts";
import { WORKFLOW_RUNS_AT_ONCE } from "../../../schemas/plans.ts";
import { organizations, workflowRuns, workflows } from "../../../schemas/tables/all.ts";
import type { Position } from "./position.ts";
import type { Scope } from "./fill-templates.ts";

/** A run whose lease we hold. */
export interface ClaimedRun {
  id: string;
  organizationId: string;
  workflowId: string;
  workflowName: string;
  leaseToken: string;
  steps: WorkflowStep[];
  position: Position;
  failures: number;
  inputs: Record<string, unknown>;
  event: (typeof workflowRuns.$inferSelect)["event"];
  results: Scope["steps"];
  causes: string[];
  savedBy: (typeof workflowRuns.$inferSelect)["savedBy"];
  /** How often its next step was begun, this time counted. */
  begun: number;
}

/** So many due runs are looked at for a claim; what is beyond has its turn when these are gone. */
const WINDOW = 5_000;

/** Who claims runs holds it: the others then see what he took. */
const CLAIMS_LOCK = sql`hashtext('claim workflow runs')`;

/**
 * Claims up to `room` runs that go on now, of each organization only as many as its plan allows beside those that any process carries out.
 * They are `running` from here on.
 */
export async function claimRuns(database: Database, now: Date, { leaseMs, room }: { leaseMs: number; room: number }): Promise<ClaimedRun[]> {
  const { ids, token } = await inTransaction(database, async (tx) => {
    await tx.execute(sql`select pg_advisory_xact_lock(${CLAIMS_LOCK})`);
    return claimDue(tx, { table: workflowRuns, condition: sql`finished_at is null and id = any (array(${share(now)}))`, now, leaseMs, limit: room });
  });
  if (ids.length === 0) return [];
  const held = and(inArray(workflowRuns.id, ids), eq(workflowRuns.leaseToken, token));
  await database.update(workflowRuns).set({ status: "running", begun: sql`${workflowRuns.begun} + 1` }).where(held);
  const rows = await database.select({ run: workflowRuns, name: workflows.name }).from(workflowRuns).innerJoin(workflows, eq(workflows.id, workflowRuns.workflowId)).where(held);
  return rows.map(({ run, name }) => ({
    id: run.id,
    organizationId: run.organizationId,
    workflowId: run.workflowId,
    workflowName: name,
    leaseToken: token,
    steps: run.steps as unknown as WorkflowStep[],
    position: run.position,
    failures: run.failures,
    inputs: run.inputs,
    event: run.event,
    results: run.results,
    causes: run.causes,
    savedBy: run.savedBy,
    begun: run.begun,
  }));
}

/** Ids of due runs, of each organization only as many as it has places free: one that has much to do keeps only its own waiting. */
function share(now: Date): SQL {
  const at = sql`${now.toISOString()}::timestamptz`;
  return sql`
    select id from (
      select due.id, due.allowed, due.running + row_number() over (partition by due.organization_id order by due.due_at, due.id) as place
      from (
        select run.id, run.due_at, run.organization_id, plan.allowed, coalesce(claimed.running, 0) as running
        from ${workflowRuns} as run
        join (select id, (${JSON.stringify(WORKFLOW_RUNS_AT_ONCE)}::jsonb ->> plan::text)::int as allowed from ${organizations}) as plan on plan.id = run.organization_id
        left join (
          select organization_id, count(*)::int as running from ${workflowRuns} where finished_at is null and lease_token is not null and due_at > ${at} group by organization_id
        ) as claimed on claimed.organization_id = run.organization_id
        where run.due_at <= ${at} and run.finished_at is null and coalesce(claimed.running, 0) < plan.allowed
        order by run.due_at limit ${WINDOW}
      ) as due
    ) as due where place <= allowed`;
}

/** What the placeholders of a run's next step stand for. */
export function scopeOf({ inputs, event, results }: ClaimedRun): Scope {
  return { inputs, event, steps: results };
}
