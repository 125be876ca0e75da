import type { ClickHouse } from "../../platform/clickhouse/port.ts";
import { isUuid } from "../../platform/ids.ts";
import { inTransaction, type Database } from "../../platform/postgres/database.ts";
import type { ErrorDetail } from "../../schemas/api/errors.ts";
import { errorSignatures } from "../../schemas/tables/all.ts";
import type { ErrorStatus } from "../../schemas/vocabulary.ts";
import type { Actor } from "../actor.ts";
import { recordAudit } from "../audit/record.ts";
import { describeSignature } from "./get.ts";
import { noSuchError, ownSignature, type SignatureRow } from "./show.ts";

/** Resolves, ignores or reopens a signature, with its audit entry. NOT_FOUND for ids that are unknown or foreign. */
export async function changeErrorStatus(
  { database, clickhouse }: { database: Database; clickhouse: ClickHouse },
  actor: Actor,
  id: string,
  { status, now }: { status: ErrorStatus; now: number },
): Promise<ErrorDetail> {
  if (!isUuid(id)) throw noSuchError();
  const row = await inTransaction(database, async (tx): Promise<SignatureRow> => {
    const [before] = await tx.select({ status: errorSignatures.status }).from(errorSignatures).where(ownSignature(actor.organizationId, id)).for("no key update");
    const [after] = before ? await tx.update(errorSignatures).set({ status }).where(ownSignature(actor.organizationId, id)).returning() : [];
    if (!before || !after) throw noSuchError();
    if (before.status !== status) {
      await recordAudit(tx, actor, { action: "error.status_changed", resourceType: "error", resourceId: id, before, after: { status } });
    }
    return after;
  });
  return describeSignature(clickhouse, row, now);
}
