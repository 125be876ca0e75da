import { and, desc, eq } from "drizzle-orm";
import { Failure } from "../../platform/failures.ts";
import { isUuid } from "../../platform/ids.ts";
import type { Queries, Transaction } from "../../platform/postgres/database.ts";
import type { Webhook, WebhookListQuery } from "../../schemas/api/webhooks.ts";
import { webhooks } from "../../schemas/tables/all.ts";
import { maskSecretHeaders } from "../secret-names.ts";

export type WebhookRow = typeof webhooks.$inferSelect;

/** Webhooks of an organization, newest first. */
export async function listWebhooks(queries: Queries, organizationId: string, { limit, offset }: WebhookListQuery): Promise<Webhook[]> {
  const rows = await queries.select().from(webhooks).where(eq(webhooks.organizationId, organizationId)).orderBy(desc(webhooks.createdAt), desc(webhooks.id)).limit(limit).offset(offset);
  return rows.map(showWebhook);
}

/** NOT_FOUND for ids that are unknown, malformed or of another organization. */
export async function getWebhook(queries: Queries, organizationId: string, id: string): Promise<Webhook> {
  return showWebhook(await findWebhook(queries, organizationId, id));
}

/** As `getWebhook`, as it is stored: with its secret. */
export async function findWebhook(queries: Queries, organizationId: string, id: string): Promise<WebhookRow> {
  const [row] = isUuid(id) ? await queries.select().from(webhooks).where(own(organizationId, id)) : [];
  if (!row) throw noSuchWebhook();
  return row;
}

/** As `findWebhook`, locked until the transaction ends. Whoever locks deliveries too locks their webhook first. */
export async function lockWebhook(tx: Transaction, organizationId: string, id: string): Promise<WebhookRow> {
  const [row] = isUuid(id) ? await tx.select().from(webhooks).where(own(organizationId, id)).for("no key update") : [];
  if (!row) throw noSuchWebhook();
  return row;
}

/** As the audit log is given it: the log hides the values of headers itself, and sees by them which fields changed. */
export function auditedWebhook(row: WebhookRow): Webhook {
  return { ...showWebhook(row), headers: row.headers };
}

/** As the API shows it: without its secrets. */
export function showWebhook(row: WebhookRow): Webhook {
  return {
    id: row.id,
    name: row.name,
    url: row.url,
    is_active: row.isActive,
    events: row.events as Webhook["events"],
    headers: maskSecretHeaders(row.headers),
    disabled_at: row.disabledAt?.toISOString() ?? null,
    disabled_reason: row.disabledReason,
    created_at: row.createdAt.toISOString(),
    updated_at: row.updatedAt.toISOString(),
  };
}

function own(organizationId: string, id: string) {
  return and(eq(webhooks.organizationId, organizationId), eq(webhooks.id, id));
}

function noSuchWebhook(): Failure {
  return new Failure("NOT_FOUND", "No such webhook.");
}
