import { newId } from "../../platform/ids.ts";
import { inTransaction, type Database } from "../../platform/postgres/database.ts";
import type { Channel, CreateChannel } from "../../schemas/api/channels.ts";
import { channels } from "../../schemas/tables/all.ts";
import type { Actor } from "../actor.ts";
import { recordAudit } from "../audit/record.ts";
import { requireRoom } from "../organizations/require-room.ts";
import { checkConfig, type UrlRules } from "./check-config.ts";
import { auditedChannel, showChannel } from "./read.ts";

/** Makes a notification channel. INVALID_REQUEST for its config; PLAN_LIMIT. */
export async function createChannel({ database, config: rules }: { database: Database; config: UrlRules }, actor: Actor, input: CreateChannel, at: Date): Promise<Channel> {
  const config = checkConfig(input.type, input.config, rules);
  const { type, name, enabled, notify_on_incident: notifyOnIncident, notify_on_maintenance: notifyOnMaintenance } = input;
  return inTransaction(database, async (tx) => {
    await requireRoom(tx, actor.organizationId, "channels");
    const values = { id: newId(), organizationId: actor.organizationId, type, name, enabled, config, notifyOnIncident, notifyOnMaintenance, createdAt: at, updatedAt: at };
    const [row] = await tx.insert(channels).values(values).returning();
    await recordAudit(tx, actor, { action: "channel.created", resourceType: "channel", resourceId: row!.id, before: null, after: auditedChannel(row!) });
    return showChannel(row!);
  });
}
