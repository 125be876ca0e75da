import { and, desc, eq } from "drizzle-orm";
import { Failure } from "../../platform/failures.ts";
import { isUuid } from "../../platform/ids.ts";
import type { Queries, Transaction } from "../../platform/postgres/database.ts";
import type { Workflow, WorkflowListQuery, WorkflowStep } from "../../schemas/api/workflows.ts";
import { workflows } from "../../schemas/tables/all.ts";
import type { Actor } from "../actor.ts";
import { maskHeaders } from "./mask-headers.ts";

export type WorkflowRow = typeof workflows.$inferSelect;

/** Newest first. */
export async function listWorkflows(queries: Queries, organizationId: string, { limit, offset }: WorkflowListQuery): Promise<Workflow[]> {
  const rows = await queries
    .select()
    .from(workflows)
    .where(eq(workflows.organizationId, organizationId))
    .orderBy(desc(workflows.createdAt), desc(workflows.id))
    .limit(limit)
    .offset(offset);
  return rows.map(showWorkflow);
}

/** NOT_FOUND for ids that are unknown, malformed or of another organization. */
export async function getWorkflow(queries: Queries, organizationId: string, id: string): Promise<Workflow> {
  const [row] = isUuid(id) ? await queries.select().from(workflows).where(own(organizationId, id)) : [];
  if (!row) throw noSuchWorkflow();
  return showWorkflow(row);
}

/** A workflow as it is stored, locked until the transaction ends. Whoever locks runs too locks their workflow first. NOT_FOUND as `getWorkflow`. */
export async function lockWorkflow(tx: Transaction, organizationId: string, id: string): Promise<WorkflowRow> {
  const [row] = isUuid(id) ? await tx.select().from(workflows).where(own(organizationId, id)).for("no key update") : [];
  if (!row) throw noSuchWorkflow();
  return row;
}

function noSuchWorkflow(): Failure {
  return new Failure("NOT_FOUND", "No such workflow.");
}

/** Who saves a workflow, as its runs need it. */
export function saverOf({ type, id, name }: Actor): WorkflowRow["savedBy"] {
  return { type, id, name };
}

/** The steps of a row: what the schema let in. */
export function stepsOf(row: WorkflowRow): WorkflowStep[] {
  return row.steps as unknown as WorkflowStep[];
}

/** As the API shows it: headers that authenticate are masked. */
export function showWorkflow(row: WorkflowRow): Workflow {
  return { ...auditedWorkflow(row), steps: maskHeaders(stepsOf(row)) };
}

/** As the audit log is given it: whole, so that a changed secret is noticed; it masks all headers itself. */
export function auditedWorkflow(row: WorkflowRow): Workflow {
  return {
    id: row.id,
    name: row.name,
    enabled: row.enabled,
    disabled_reason: row.disabledReason,
    saved_by: row.savedBy,
    trigger: row.trigger as Workflow["trigger"],
    steps: stepsOf(row),
    created_at: row.createdAt.toISOString(),
    updated_at: row.updatedAt.toISOString(),
  };
}

function own(organizationId: string, id: string) {
  return and(eq(workflows.organizationId, organizationId), eq(workflows.id, id));
}
