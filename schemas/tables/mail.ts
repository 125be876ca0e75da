import { index, integer, jsonb, pgEnum, pgTable, text, uniqueIndex, uuid } from "drizzle-orm/pg-core";
import { sql } from "drizzle-orm";
import { MAIL_KINDS, MAIL_STATUSES } from "../vocabulary.ts";
import { moment, organizations } from "./organizations.ts";
import { subscribers } from "./subscribers.ts";

export const mailKind = pgEnum("mail_kind", MAIL_KINDS);
export const mailStatus = pgEnum("mail_status", MAIL_STATUSES);

/**
 * Mail on its way out. States: pending (due_at says when) → sent | failed; a retry is the same row, pending again. While a worker holds
 * a pending row, `lease_token` is its token and `due_at` the lease's end. The Message-ID is made from `id`. Text and html go when it is
 * finished: they hold tokens. Finished rows are forgotten after 30 days.
 */
export const mails = pgTable(
  "mails",
  {
    id: uuid("id").primaryKey(),
    organizationId: uuid("organization_id").notNull().references(() => organizations.id, { onDelete: "cascade" }),
    kind: mailKind("kind").notNull(),
    to: text("to").notNull(),
    subject: text("subject").notNull(),
    text: text("text"),
    html: text("html"),
    headers: jsonb("headers").$type<Record<string, string>>(),
    subscriberId: uuid("subscriber_id").references(() => subscribers.id, { onDelete: "cascade" }),
    /** What it tells a subscriber of: each event once. */
    eventId: uuid("event_id"),
    status: mailStatus("status").notNull().default("pending"),
    /** Tries made. */
    attempts: integer("attempts").notNull().default(0),
    dueAt: moment("due_at").notNull(),
    leaseToken: uuid("lease_token"),
    error: text("error"),
    createdAt: moment("created_at").notNull(),
    finishedAt: moment("finished_at"),
  },
  (table) => [
    uniqueIndex("mails_once").on(table.eventId, table.subscriberId),
    index("mails_due").on(table.dueAt).where(sql`status = 'pending'`),
    index("mails_subscriber").on(table.subscriberId),
    index("mails_organization").on(table.organizationId),
    index("mails_finished").on(table.finishedAt).where(sql`status <> 'pending'`),
  ],
);
