import { eq, sql, type SQL } from "drizzle-orm";
import { inTransaction, type Database } from "../../platform/postgres/database.ts";
import type { Channel, UpdateChannel } from "../../schemas/api/channels.ts";
import { channels } from "../../schemas/tables/all.ts";
import type { Actor } from "../actor.ts";
import { recordAudit } from "../audit/record.ts";
import { abandonWaiting } from "../notifications/record.ts";
import { mergeConfig, type UrlRules } from "./check-config.ts";
import { needsConfirmation } from "./confirmation.ts";
import { queueCode } from "./phone-code.ts";
import { auditedChannel, lockChannel, showChannel } from "./read.ts";

/** Changes a channel; what is left out stays, its type always. One that is disabled is not told what still waits for it. NOT_FOUND; INVALID_REQUEST for its config. */
export async function updateChannel({ database, config: rules }: { database: Database; config: UrlRules }, actor: Actor, id: string, patch: UpdateChannel, at: Date): Promise<Channel> {
  return inTransaction(database, async (tx) => {
    const found = await lockChannel(tx, actor.organizationId, id);
    const { name, enabled, notify_on_incident: notifyOnIncident, notify_on_maintenance: notifyOnMaintenance } = patch;
    const config = patch.config && mergeConfig(found.type, found.config, patch.config, rules);
    const updatedAt = at > found.updatedAt ? at : found.updatedAt;
    // Another number is another person, who is asked anew.
    const isAnother = needsConfirmation(found.type) && config !== undefined && config.phone_number !== found.config.phone_number;
    const [row] = await tx.update(channels).set({ ...(isAnother && { confirmedAt: null, codeHash: null }), name, enabled, config, notifyOnIncident, notifyOnMaintenance, updatedAt, dueAt: config && atOnce(at) }).where(eq(channels.id, found.id)).returning();
    if (enabled === false) await abandonWaiting(tx, found.id, at);
    if (isAnother) await queueCode(tx, row!, at);
    await recordAudit(tx, actor, { action: "channel.updated", resourceType: "channel", resourceId: found.id, before: auditedChannel(found), after: auditedChannel(row!) });
    return showChannel(row!);
  });
}

/** Another address has a pace of its own. A lease stays. */
function atOnce(at: Date): SQL {
  return sql`case when ${channels.leaseToken} is null then ${at.toISOString()}::timestamptz else ${channels.dueAt} end`;
}
