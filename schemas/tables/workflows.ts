import { sql } from "drizzle-orm";
import { boolean, index, integer, jsonb, pgEnum, pgTable, text, uuid } from "drizzle-orm/pg-core";
import { WORKFLOW_RUN_STATUSES, WORKFLOW_TRIGGERS } from "../vocabulary.ts";
import { moment, organizations } from "./organizations.ts";
import { sealedJson } from "./sealed.ts";

/** Who saved a workflow last: it runs with what that one may do. `id` is an API key's, null for the command line and the service itself. */
export interface WorkflowSaver {
  type: "api_key" | "cli" | "system";
  id: string | null;
  name: string;
}

const NOBODY = sql`'{"type": "system", "id": null, "name": "Pharos"}'`;

export const workflowRunStatus = pgEnum("workflow_run_status", WORKFLOW_RUN_STATUSES);

export const workflowTrigger = pgEnum("workflow_trigger", WORKFLOW_TRIGGERS);

/** `trigger` and `steps` are what `schemas/api/workflows.ts` has validated; steps are sealed, because headers in them may be secrets. */
export const workflows = pgTable(
  "workflows",
  {
    id: uuid("id").primaryKey(),
    organizationId: uuid("organization_id").notNull().references(() => organizations.id, { onDelete: "cascade" }),
    name: text("name").notNull(),
    enabled: boolean("enabled").notNull().default(true),
    /** Why Pharos disabled it; null while it is enabled, and when somebody else did. */
    disabledReason: text("disabled_reason"),
    savedBy: jsonb("saved_by").$type<WorkflowSaver>().notNull().default(NOBODY),
    trigger: jsonb("trigger").$type<Record<string, unknown>>().notNull(),
    steps: sealedJson<Record<string, unknown>[]>("steps").notNull(),
    /** When its schedule starts it next; null while it has none, or is not enabled. */
    nextRunAt: moment("next_run_at"),
    createdAt: moment("created_at").notNull().defaultNow(),
    updatedAt: moment("updated_at").notNull().defaultNow(),
  },
  (table) => [
    index("workflows_organization").on(table.organizationId, table.createdAt),
    index("workflows_scheduled").on(table.nextRunAt).where(sql`next_run_at is not null`),
  ],
);

/**
 * States: queued → running ⇄ waiting → succeeded | failed. A run that has not ended is due work (`platform/claim-due.ts`): `due_at` is when it goes on, or
 * the end of the lease of whoever carries it out.
 */
export const workflowRuns = pgTable(
  "workflow_runs",
  {
    id: uuid("id").primaryKey(),
    organizationId: uuid("organization_id").notNull(),
    workflowId: uuid("workflow_id").notNull().references(() => workflows.id, { onDelete: "cascade" }),
    status: workflowRunStatus("status").notNull().default("queued"),
    trigger: workflowTrigger("trigger").notNull().default("manual"),
    inputs: jsonb("inputs").$type<Record<string, unknown>>().notNull(),
    /** What started it, with `id`, `type` and `data`. */
    event: jsonb("event").$type<{ id: string; type: string; data: Record<string, unknown> }>(),
    /** The workflow's when it was started. */
    steps: sealedJson<Record<string, unknown>[]>("steps").notNull().default(sql`'[]'::jsonb`),
    /** Who had saved these. */
    savedBy: jsonb("saved_by").$type<WorkflowSaver>().notNull().default(NOBODY),
    /** How often the step that comes next was begun; more than once when its process died. */
    begun: integer("begun").notNull().default(0),
    /** The path of the step that comes next. */
    position: text("position").default("/0"),
    /** Failed tries of that step. */
    failures: integer("failures").notNull().default(0),
    /** What steps with a name gave. */
    results: jsonb("results").$type<Record<string, Record<string, unknown>>>().notNull().default({}),
    /** The workflows whose runs led to this one, the first cause first. */
    causes: uuid("causes").array().notNull().default(sql`'{}'`),
    dueAt: moment("due_at").notNull(),
    leaseToken: uuid("lease_token"),
    trace: jsonb("trace").$type<Record<string, unknown>[]>().notNull().default([]),
    createdAt: moment("created_at").notNull(),
    finishedAt: moment("finished_at"),
  },
  (table) => [
    index("workflow_runs_workflow").on(table.workflowId, table.createdAt),
    index("workflow_runs_due").on(table.dueAt).where(sql`finished_at is null`),
    index("workflow_runs_claimed").on(table.organizationId, table.dueAt).where(sql`finished_at is null and lease_token is not null`),
    index("workflow_runs_unfinished").on(table.workflowId).where(sql`finished_at is null`),
    index("workflow_runs_finished").on(table.finishedAt),
  ],
);
