import { and, eq } from "drizzle-orm";
import { Failure } from "../../platform/failures.ts";
import { isUuid } from "../../platform/ids.ts";
import { inTransaction, type Database } from "../../platform/postgres/database.ts";
import { sourceMaps } from "../../schemas/tables/all.ts";
import type { Actor } from "../actor.ts";
import { recordAudit } from "../audit/record.ts";
import { audited } from "./upload.ts";

/** Deletes a source map; its content goes with the last map that has it (a trigger). NOT_FOUND. */
export async function deleteSourceMap(database: Database, actor: Actor, id: string): Promise<void> {
  await inTransaction(database, async (tx) => {
    const own = and(eq(sourceMaps.organizationId, actor.organizationId), eq(sourceMaps.id, id));
    const [row] = isUuid(id) ? await tx.delete(sourceMaps).where(own).returning() : [];
    if (!row) throw new Failure("NOT_FOUND", "No such source map.");
    await recordAudit(tx, actor, { action: "sourcemap.deleted", resourceType: "sourcemap", resourceId: id, before: audited(row), after: null });
  });
}
