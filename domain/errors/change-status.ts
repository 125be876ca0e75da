import { and, asc, eq, inArray } from "drizzle-orm";
import type { ClickHouse } from "../../platform/clickhouse/port.ts";
import { Failure } from "../../platform/failures.ts";
import { isUuid } from "../../platform/ids.ts";
import { inTransaction, type Database, type Transaction } from "../../platform/postgres/database.ts";
import type { ChangeErrorStatus, ChangeManyErrors, ErrorDetail } from "../../schemas/api/errors.ts";
import { errorSignatures } from "../../schemas/tables/all.ts";
import type { Actor } from "../actor.ts";
import { recordAudit } from "../audit/record.ts";
import { decideChange, type StatusColumns } from "./decide-change.ts";
import { effectiveStatus } from "./effective-status.ts";
import { describeSignature } from "./get.ts";
import { noSuchError, type SignatureRow } from "./show.ts";

/**
 * Resolves, ignores or reopens a signature, with its audit entry; `now` in milliseconds since the epoch. NOT_FOUND for
 * ids that are unknown or foreign; INVALID_REQUEST for an `ignore_until` that has passed.
 */
export async function changeErrorStatus(
  { database, clickhouse }: { database: Database; clickhouse: ClickHouse },
  actor: Actor,
  id: string,
  { now, ...patch }: ChangeErrorStatus & { now: number },
): Promise<ErrorDetail> {
  const until = patch.ignore_until;
  if (until && Date.parse(until) <= now) throw new Failure("INVALID_REQUEST", "ignore_until has passed already.", { path: "/ignore_until", fix: "Give a moment in the future." });
  const row = await inTransaction(database, async (tx) => {
    const [changed] = await changeEach(tx, actor, [id], patch, now);
    if (!changed) throw noSuchError();
    return changed;
  });
  return describeSignature(clickhouse, row, now);
}

/** Sets the status of many signatures at once, with an audit entry for each that changed. Returns how many exist; others are left out. */
export async function changeErrorStatuses(database: Database, actor: Actor, { ids, status }: ChangeManyErrors, now: number): Promise<number> {
  const rows = await inTransaction(database, (tx) => changeEach(tx, actor, ids, { status }, now));
  return rows.length;
}

/** The organization's signatures of these ids after the change. They are locked in the order of their ids, as counting occurrences does. */
async function changeEach(tx: Transaction, actor: Actor, ids: readonly string[], patch: ChangeErrorStatus, now: number): Promise<SignatureRow[]> {
  const own = and(eq(errorSignatures.organizationId, actor.organizationId), inArray(errorSignatures.id, ids.filter(isUuid)));
  const rows = await tx.select().from(errorSignatures).where(own).orderBy(asc(errorSignatures.id)).for("no key update");
  for (const row of rows) {
    const current = { ...row, status: effectiveStatus(row, now) };
    const columns = decideChange(current, patch, new Date(now));
    const [before, after] = [audited(current), audited(columns)];
    if (JSON.stringify(before) === JSON.stringify(after)) continue;
    await tx.update(errorSignatures).set(columns).where(eq(errorSignatures.id, row.id));
    await recordAudit(tx, actor, { action: "error.status_changed", resourceType: "error", resourceId: row.id, before, after });
    Object.assign(row, columns);
  }
  return rows;
}

function audited({ status, resolvedInRelease, ignoreUntil, ignoreUntilOccurrences }: StatusColumns): Record<string, unknown> {
  return { status, resolved_in_release: resolvedInRelease, ignore_until: ignoreUntil?.toISOString() ?? null, ignore_until_occurrences: ignoreUntilOccurrences };
}
