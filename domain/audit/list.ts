import { and, desc, eq, or, sql } from "drizzle-orm";
import { Failure } from "../../platform/failures.ts";
import { isUuid } from "../../platform/ids.ts";
import type { Queries } from "../../platform/postgres/database.ts";
import type { AuditEntry, AuditLog, AuditLogQuery } from "../../schemas/api/audit-log.ts";
import { auditEntries } from "../../schemas/tables/all.ts";

/** An organization's audit log, newest first. What is written between two pages moves none of them. INVALID_REQUEST for a cursor that is none. */
export async function listAuditEntries(queries: Queries, organizationId: string, { limit, cursor, action, resource_type: resourceType, actor }: AuditLogQuery): Promise<AuditLog> {
  const after = cursor === undefined ? null : readCursor(cursor);
  const rows = await queries
    .select()
    .from(auditEntries)
    .where(
      and(
        eq(auditEntries.organizationId, organizationId),
        action === undefined ? undefined : eq(auditEntries.action, action),
        resourceType === undefined ? undefined : eq(auditEntries.resourceType, resourceType),
        actor === undefined ? undefined : byActor(actor),
        after === null ? undefined : sql`(${auditEntries.createdAt}, ${auditEntries.id}) < (${after.createdAt}::timestamptz, ${after.id}::uuid)`,
      ),
    )
    .orderBy(desc(auditEntries.createdAt), desc(auditEntries.id))
    // One more tells whether there is another page.
    .limit(limit + 1);
  const shown = rows.slice(0, limit);
  const last = rows.length > limit ? shown.at(-1) : undefined;
  return { entries: shown.map(showEntry), next_cursor: last ? makeCursor(last) : null };
}

function byActor(actor: string) {
  return isUuid(actor) ? eq(auditEntries.actorId, actor) : or(eq(auditEntries.actorName, actor), eq(auditEntries.actorType, actor));
}

function showEntry(row: typeof auditEntries.$inferSelect): AuditEntry {
  return {
    id: row.id,
    actor: { type: row.actorType, id: row.actorId, name: row.actorName },
    action: row.action,
    resource: { type: row.resourceType, id: row.resourceId },
    changed_fields: row.changedFields,
    before: row.before,
    after: row.after,
    ip: row.ip,
    user_agent: row.userAgent,
    created_at: row.createdAt.toISOString(),
  };
}

/** Where a page ended: the last entry's time, which is exact to the stored millisecond, and its id. */
function makeCursor({ createdAt, id }: { createdAt: Date; id: string }): string {
  return Buffer.from(`${createdAt.getTime()} ${id}`).toString("base64url");
}

function readCursor(cursor: string): { createdAt: string; id: string } {
  const [, milliseconds, id] = /^(\d{1,14}) (.+)$/.exec(Buffer.from(cursor, "base64url").toString()) ?? [];
  if (milliseconds === undefined || !isUuid(id!)) throw new Failure("INVALID_REQUEST", "cursor is not one that this list gave.", { path: "/cursor", fix: "Take next_cursor of the page before, or leave it out for the first page." });
  return { createdAt: new Date(Number(milliseconds)).toISOString(), id: id! };
}
