import { eq } from "drizzle-orm";
import { inTransaction, type Database } from "../../platform/postgres/database.ts";
import { channels } from "../../schemas/tables/all.ts";
import type { Actor } from "../actor.ts";
import { recordAudit } from "../audit/record.ts";
import { auditedChannel, lockChannel } from "./read.ts";

/** Deletes a channel. NOT_FOUND. */
export async function deleteChannel(database: Database, actor: Actor, id: string): Promise<void> {
  await inTransaction(database, async (tx) => {
    const found = await lockChannel(tx, actor.organizationId, id);
    await tx.delete(channels).where(eq(channels.id, found.id));
    await recordAudit(tx, actor, { action: "channel.deleted", resourceType: "channel", resourceId: found.id, before: auditedChannel(found), after: null });
  });
}
