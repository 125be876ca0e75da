import { and, eq, inArray, sql } from "drizzle-orm";
import { claimDue } from "../../../platform/claim-due.ts";
import { fairShare } from "../../../platform/fair-share.ts";
import type { Database } from "../../../platform/postgres/database.ts";
import type { WorkflowStep } from "../../../schemas/api/workflows.ts";
import { workflowRuns, workflows } from "../../../schemas/tables/all.ts";
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

interface ClaimLimits {
  leaseMs: number;
  room: number;
  perOrganization: number;
  running: ReadonlyMap<string, number>;
}

const UNFINISHED = sql`finished_at is null`;

/** Claims runs that go on now, of each organization only its share. They are `running` from here on. */
export async function claimRuns(database: Database, now: Date, { leaseMs, room, perOrganization, running }: ClaimLimits): Promise<ClaimedRun[]> {
  const share = fairShare({ table: workflowRuns, condition: UNFINISHED, now, perOrganization, running });
  const { ids, token } = await claimDue(database, { table: workflowRuns, condition: sql`${UNFINISHED} and id = any (array(${share}))`, now, leaseMs, limit: room });
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

/** What the placeholders of a run's next step stand for. */
export function scopeOf({ inputs, event, results }: ClaimedRun): Scope {
  return { inputs, event, steps: results };
}
