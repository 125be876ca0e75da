import { and, eq, gt, sql } from "drizzle-orm";
import { pullInDue } from "../../../platform/pull-in-due.ts";
import type { Database } from "../../../platform/postgres/database.ts";
import type { Workflow } from "../../../schemas/api/workflows.ts";
import { workflowRuns, workflows } from "../../../schemas/tables/all.ts";
import { nextRunAt } from "./start.ts";

/** A run that waits has its wait as its last trace; one whose request failed is tried again within half a minute. */
const AHEAD_MS = sql`(case when failures > 0 then 30000 when status = 'waiting' then coalesce((trace -> -1 -> 'result' ->> 'seconds')::numeric, 0) * 1000 else 0 end)`;

/** Runs and schedules that were planned before the clock was put back: a wait begins anew, a schedule's next time is the next by the clock as it is. May be repeated. */
export async function pullInRuns(database: Database, now: Date, leaseMs: number): Promise<number> {
  let moved = await pullInDue(database, { table: workflowRuns, condition: sql`finished_at is null`, aheadMs: AHEAD_MS, leaseMs, now });
  const planned = await database.select({ id: workflows.id, trigger: workflows.trigger, at: workflows.nextRunAt }).from(workflows).where(gt(workflows.nextRunAt, now));
  for (const { id, trigger, at } of planned) {
    const next = nextRunAt(trigger as Workflow["trigger"], true, now);
    if (next === null || next >= at!) continue;
    const { rowCount } = await database.update(workflows).set({ nextRunAt: next }).where(and(eq(workflows.id, id), eq(workflows.nextRunAt, at!)));
    moved += rowCount ?? 0;
  }
  return moved;
}
