import { and, asc, eq, isNull, lte, sql, type SQL } from "drizzle-orm";
import { newId } from "../../../platform/ids.ts";
import { inTransaction, type Database, type Transaction } from "../../../platform/postgres/database.ts";
import type { Workflow } from "../../../schemas/api/workflows.ts";
import { workflowRuns, workflows } from "../../../schemas/tables/all.ts";
import type { WorkflowTrigger } from "../../../schemas/vocabulary.ts";
import { nextExpectedAt } from "../../heartbeats/schedule.ts";

type WorkflowRow = typeof workflows.$inferSelect;

/** Runs of a workflow that have not ended; beyond it nothing starts another, so that a flood of events cannot pile up without end. */
export const MOST_UNFINISHED = 1_000;

/** An event starts nothing when so many workflows led to it, one after the other. */
const MOST_CAUSES = 5;

const BATCH = 100;

/** A schedule that was saved before they had to be slower starts its workflow once a minute. */
const PAUSE_MS = 59_000;

/** Queues a run of a workflow, due at once, and returns its id. */
export async function queueRun(tx: Transaction, { id: workflowId, organizationId, steps, savedBy }: WorkflowRow, { trigger, inputs, at }: { trigger: WorkflowTrigger; inputs: Record<string, unknown>; at: Date }): Promise<string> {
  const id = newId();
  await tx.insert(workflowRuns).values({ id, organizationId, workflowId, trigger, inputs, steps, savedBy, dueAt: at, createdAt: at });
  return id;
}

/** How many runs of a workflow have not ended. */
export async function countUnfinished(tx: Transaction, workflowId: string): Promise<number> {
  return tx.$count(workflowRuns, and(eq(workflowRuns.workflowId, workflowId), isNull(workflowRuns.finishedAt)));
}

/**
 * A part of the fan-out's `with`: of its `batch` (id, organization_id, type, data, causes, position of events), each event starts the workflows that wait for
 * its type. Not those whose own runs brought it about, however far back, nor any when there were five before: no workflow starts itself for ever.
 */
export function startWorkflows(at: SQL): SQL {
  return sql`
    started as (
      insert into ${workflowRuns} (id, organization_id, workflow_id, trigger, inputs, event, steps, saved_by, causes, due_at, created_at)
      select gen_random_uuid(), batch.organization_id, workflow.id, 'event', '{}', jsonb_build_object('id', batch.id, 'type', batch.type, 'data', batch.data), workflow.steps, workflow.saved_by, coalesce(batch.causes, '{}'), ${at}, ${at}
      from batch join ${workflows} as workflow on workflow.organization_id = batch.organization_id and workflow.enabled
        and workflow.trigger ->> 'type' = 'event' and workflow.trigger ->> 'event' = batch.type::text
      where workflow.id <> all (coalesce(batch.causes, '{}')) and coalesce(cardinality(batch.causes), 0) < ${MOST_CAUSES}
        and (select count(*) from ${workflowRuns} as run where run.workflow_id = workflow.id and run.finished_at is null) < ${MOST_UNFINISHED}
      order by batch.position
    )`;
}

/** When a workflow's schedule (UTC) starts it after `at`; null for one without, and while it is not enabled. */
export function nextRunAt(trigger: Workflow["trigger"], enabled: boolean, at: Date): Date | null {
  if (!enabled || trigger.type !== "schedule") return null;
  return new Date(nextExpectedAt({ scheduleType: "cron", intervalSeconds: null, cron: trigger.cron, timezone: "UTC" }, at.getTime()));
}

/** Starts the workflows whose time has come, each once, however many times it missed. Any number may do so at once. True when there are more. */
export async function startScheduled(database: Database, now: Date): Promise<boolean> {
  return inTransaction(database, async (tx) => {
    const due = await tx.select().from(workflows).where(and(eq(workflows.enabled, true), lte(workflows.nextRunAt, now))).orderBy(asc(workflows.nextRunAt)).limit(BATCH).for("no key update", { skipLocked: true });
    for (const row of due) {
      // 1970: it was made before schedules were carried out, and is only planned.
      const planned = row.nextRunAt!.getTime() > 0;
      if (planned && (await countUnfinished(tx, row.id)) < MOST_UNFINISHED) await queueRun(tx, row, { trigger: "schedule", inputs: {}, at: now });
      await tx.update(workflows).set({ nextRunAt: nextRunAt(row.trigger as Workflow["trigger"], row.enabled, new Date(now.getTime() + PAUSE_MS)) }).where(eq(workflows.id, row.id));
    }
    return due.length === BATCH;
  });
}
