import { boolean, index, jsonb, pgEnum, pgTable, text, uuid } from "drizzle-orm/pg-core";
import { WORKFLOW_RUN_STATUSES } from "../vocabulary.ts";
import { moment, organizations } from "./organizations.ts";

export const workflowRunStatus = pgEnum("workflow_run_status", WORKFLOW_RUN_STATUSES);

/** `trigger` and `steps` are what `schemas/api/workflows.ts` has validated. */
export const workflows = pgTable(
  "workflows",
  {
    id: uuid("id").primaryKey(),
    organizationId: uuid("organization_id").notNull().references(() => organizations.id, { onDelete: "cascade" }),
    name: text("name").notNull(),
    enabled: boolean("enabled").notNull().default(true),
    trigger: jsonb("trigger").$type<Record<string, unknown>>().notNull(),
    steps: jsonb("steps").$type<Record<string, unknown>[]>().notNull(),
    createdAt: moment("created_at").notNull().defaultNow(),
    updatedAt: moment("updated_at").notNull().defaultNow(),
  },
  (table) => [index("workflows_organization").on(table.organizationId, table.createdAt)],
);

/** States: queued → running → succeeded | failed. */
export const workflowRuns = pgTable(
  "workflow_runs",
  {
    id: uuid("id").primaryKey(),
    organizationId: uuid("organization_id").notNull(),
    workflowId: uuid("workflow_id").notNull().references(() => workflows.id, { onDelete: "cascade" }),
    status: workflowRunStatus("status").notNull().default("queued"),
    inputs: jsonb("inputs").$type<Record<string, unknown>>().notNull(),
    trace: jsonb("trace").$type<Record<string, unknown>[]>().notNull().default([]),
    createdAt: moment("created_at").notNull(),
    finishedAt: moment("finished_at"),
  },
  (table) => [index("workflow_runs_workflow").on(table.workflowId, table.createdAt)],
);
