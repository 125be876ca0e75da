import { and, asc, eq, inArray, sql } from "drizzle-orm";
import type { ClickHouse } from "../../platform/clickhouse/port.ts";
import { Failure } from "../../platform/failures.ts";
import { isUuid } from "../../platform/ids.ts";
import { inTransaction, type Database, type Transaction } from "../../platform/postgres/database.ts";
import type { ChangeErrorStatus, ChangeManyErrors, ErrorDetail } from "../../schemas/api/errors.ts";
import { errorSignatures } from "../../schemas/tables/all.ts";
import type { Actor } from "../actor.ts";
import { recordAudits } from "../audit/record.ts";
import { storableJson } from "../events/storable-json.ts";
import { mergedInto } from "./aliases.ts";
import { decideChange, type StatusColumns } from "./decide-change.ts";
import { effectiveStatus } from "./effective-status.ts";
import { describeSignature } from "./get.ts";
import { noSuchError, type SignatureRow } from "./show.ts";

/**
 * Resolves, ignores or reopens a signature, with its audit entry; `now` in milliseconds since the epoch. NOT_FOUND for
 * ids that are unknown or foreign; INVALID_REQUEST for an `ignore_until` that has passed.
 */
export async function changeErrorStatus(
  needs: { database: Database; clickhouse: ClickHouse },
  actor: Actor,
  id: string,
  { now, ...patch }: ChangeErrorStatus & { now: number },
): Promise<ErrorDetail> {
  const until = patch.ignore_until;
  if (until && Date.parse(until) <= now) throw new Failure("INVALID_REQUEST", "ignore_until has passed already.", { path: "/ignore_until", fix: "Give a moment in the future." });
  const row = await inTransaction(needs.database, async (tx) => {
    const [changed] = await changeEach(tx, actor, [id], patch, now);
    if (!changed) throw noSuchError();
    return changed;
  });
  return describeSignature(needs, row, now);
}

/** Sets the status of many signatures at once, with an audit entry for each that changed. Returns how many exist; others are left out. */
export async function changeErrorStatuses(database: Database, actor: Actor, { ids, status }: ChangeManyErrors, now: number): Promise<number> {
  const rows = await inTransaction(database, (tx) => changeEach(tx, actor, ids, { status }, now));
  return rows.length;
}

/**
 * The organization's signatures of these ids after the change. They are locked in the order of their ids, as counting
 * occurrences does; the number of statements does not depend on the number of signatures.
 */
async function changeEach(tx: Transaction, actor: Actor, ids: readonly string[], patch: ChangeErrorStatus, now: number): Promise<SignatureRow[]> {
  const valid = ids.filter(isUuid);
  const aliases = await mergedInto(tx, valid);
  const own = and(eq(errorSignatures.organizationId, actor.organizationId), inArray(errorSignatures.id, [...new Set(valid.map((id) => aliases.get(id) ?? id))]));
  const rows = await tx.select().from(errorSignatures).where(own).orderBy(asc(errorSignatures.id)).for("no key update");
  const changes = rows.flatMap((row) => {
    const current = { ...row, status: effectiveStatus(row, now) };
    const columns = decideChange(current, patch, new Date(now));
    const [before, after] = [audited(current), audited(columns)];
    return JSON.stringify(before) === JSON.stringify(after) ? [] : [{ row, columns, before, after }];
  });
  await storeStatuses(tx, changes);
  await recordAudits(tx, actor, changes.map(({ row, before, after }) => ({ action: "error.status_changed", resourceType: "error", resourceId: row.id, before, after })));
  const changed = new Map(changes.map(({ row, columns }) => [row.id, { ...row, ...columns }]));
  return rows.map((row) => changed.get(row.id) ?? row);
}

async function storeStatuses(tx: Transaction, changes: readonly { row: SignatureRow; columns: StatusColumns }[]): Promise<void> {
  if (changes.length === 0) return;
  const rows = changes.map(({ row: { id }, columns }) => ({
    id,
    status: columns.status,
    resolved_at: columns.resolvedAt,
    resolved_in_release: columns.resolvedInRelease,
    ignore_until: columns.ignoreUntil,
    ignore_until_occurrences: columns.ignoreUntilOccurrences,
  }));
  await tx.execute(sql`
    update ${errorSignatures} as signature
    set status = new.status, resolved_at = new.resolved_at, resolved_in_release = new.resolved_in_release,
        ignore_until = new.ignore_until, ignore_until_occurrences = new.ignore_until_occurrences
    from jsonb_to_recordset(${storableJson(rows)}::jsonb) as new (id uuid, status error_status, resolved_at timestamptz,
      resolved_in_release text, ignore_until timestamptz, ignore_until_occurrences bigint)
    where signature.id = new.id`);
}

function audited({ status, resolvedInRelease, ignoreUntil, ignoreUntilOccurrences }: StatusColumns): Record<string, unknown> {
  return { status, resolved_in_release: resolvedInRelease, ignore_until: ignoreUntil?.toISOString() ?? null, ignore_until_occurrences: ignoreUntilOccurrences };
}
