import { and, count, desc, eq } from "drizzle-orm";
import { Failure } from "../../platform/failures.ts";
import type { Database, Queries } from "../../platform/postgres/database.ts";
import type { Notification } from "../../schemas/api/notifications.ts";
import { events, notifications } from "../../schemas/tables/all.ts";
import { getChannel } from "../channels/read.ts";

/** What a channel was told and is to be told, newest first. NOT_FOUND as for the channel itself. */
export async function listNotifications(database: Database, organizationId: string, channelId: string, { limit, offset }: { limit: number; offset: number }): Promise<{ notifications: Notification[]; total: number }> {
  const { id } = await getChannel(database, organizationId, channelId);
  const [rows, [counted]] = await Promise.all([
    withEvent(database).where(eq(notifications.channelId, id)).orderBy(desc(notifications.createdAt), desc(notifications.id)).limit(limit).offset(offset),
    database.select({ total: count() }).from(notifications).where(eq(notifications.channelId, id)),
  ]);
  return { notifications: rows.map(showNotification), total: counted?.total ?? 0 };
}

/** One notification of the organization's. NOT_FOUND. */
export async function getNotification(queries: Queries, organizationId: string, id: string): Promise<Notification> {
  const [row] = await withEvent(queries).where(and(eq(notifications.organizationId, organizationId), eq(notifications.id, id)));
  if (!row) throw new Failure("NOT_FOUND", "No such notification.");
  return showNotification(row);
}

function withEvent(queries: Queries) {
  return queries.select({ notification: notifications, event: events.type }).from(notifications).leftJoin(events, eq(events.id, notifications.eventId)).$dynamic();
}

function showNotification({ notification: row, event }: Awaited<ReturnType<typeof withEvent>>[number]): Notification {
  return {
    id: row.id,
    channel_id: row.channelId,
    trigger: row.trigger,
    event_id: row.eventId,
    event,
    message: row.message,
    status: row.status,
    attempts: row.attempts,
    coalesced_into: row.coalescedInto,
    response_status_code: row.responseStatusCode,
    response_body: row.responseBody,
    duration_ms: row.durationMs,
    error: row.error,
    next_attempt_at: row.status === "pending" ? row.dueAt.toISOString() : null,
    created_at: row.createdAt.toISOString(),
    finished_at: row.finishedAt?.toISOString() ?? null,
  };
}
