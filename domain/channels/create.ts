import type { Config } from "../../platform/config.ts";
import { Failure } from "../../platform/failures.ts";
import { newId } from "../../platform/ids.ts";
import { inTransaction, type Database, type Transaction } from "../../platform/postgres/database.ts";
import type { Channel, CreateChannel } from "../../schemas/api/channels.ts";
import { channels } from "../../schemas/tables/all.ts";
import type { Actor } from "../actor.ts";
import { recordAudit } from "../audit/record.ts";
import { lockOrganization } from "../organizations/lock.ts";
import { requireRoom } from "../organizations/require-room.ts";
import { checkConfig, type UrlRules } from "./check-config.ts";
import { needsConfirmation } from "./confirmation.ts";
import { queueCode } from "./phone-code.ts";
import { auditedChannel, showChannel } from "./read.ts";

/** Makes a notification channel; a phone number is sent a code. INVALID_REQUEST for its config; PLAN_LIMIT; PLAN_RESTRICTED for text messages. */
export async function createChannel({ database, config: rules }: { database: Database; config: UrlRules & Pick<Config, "SMS_PER_DAY"> }, actor: Actor, input: CreateChannel, at: Date): Promise<Channel> {
  const config = checkConfig(input.type, input.config, rules);
  const { type, name, enabled, notify_on_incident: notifyOnIncident, notify_on_maintenance: notifyOnMaintenance } = input;
  return inTransaction(database, async (tx) => {
    await requireRoom(tx, actor.organizationId, "channels");
    if (type === "sms") await requireTexts(tx, actor.organizationId, rules.SMS_PER_DAY);
    const values = { id: newId(), organizationId: actor.organizationId, type, name, enabled, config, notifyOnIncident, notifyOnMaintenance, createdAt: at, updatedAt: at };
    const [row] = await tx.insert(channels).values(values).returning();
    if (needsConfirmation(type)) await queueCode(tx, row!, at);
    await recordAudit(tx, actor, { action: "channel.created", resourceType: "channel", resourceId: row!.id, before: null, after: auditedChannel(row!) });
    return showChannel(row!);
  });
}

async function requireTexts(tx: Transaction, organizationId: string, limits: Config["SMS_PER_DAY"]): Promise<void> {
  const plan = await lockOrganization(tx, organizationId);
  if (limits[plan] > 0) return;
  throw new Failure("PLAN_RESTRICTED", `The ${plan} plan sends no text messages.`, { path: "/type", fix: "Change to a larger plan, or choose another type of channel." });
}
