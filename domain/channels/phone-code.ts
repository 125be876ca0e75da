import { and, eq, sql } from "drizzle-orm";
import { Failure } from "../../platform/failures.ts";
import { newId } from "../../platform/ids.ts";
import { inTransaction, type Database, type Transaction } from "../../platform/postgres/database.ts";
import type { Channel } from "../../schemas/api/channels.ts";
import { channels, notifications } from "../../schemas/tables/all.ts";
import type { Actor } from "../actor.ts";
import { recordAudit } from "../audit/record.ts";
import { hashCode, isRightCode, newCode, wrongCode } from "../confirmation-code.ts";
import { needsConfirmation } from "./confirmation.ts";
import { auditedChannel, lockChannel, showChannel, type ChannelRow } from "./read.ts";

const PAUSE_MS = 60_000;

/** Plans to send a code to a channel's number. The code itself is made when it is sent, and stands nowhere. */
export async function queueCode(tx: Transaction, { id: channelId, organizationId }: Pick<ChannelRow, "id" | "organizationId">, at: Date): Promise<void> {
  await tx.insert(notifications).values({ id: newId(), organizationId, channelId, trigger: "code", dueAt: at, createdAt: at });
}

/** Makes the code of a channel whose lease we hold, as it is sent; an earlier one is worth nothing any more. Null when the lease was lost. */
export async function issueCode(database: Database, { id, leaseToken }: { id: string; leaseToken: string }, at: Date): Promise<string | null> {
  const code = newCode();
  const { rowCount } = await database.update(channels).set({ codeHash: hashCode(id, code), codeSentAt: at, codeTries: 0 }).where(and(eq(channels.id, id), eq(channels.leaseToken, leaseToken)));
  return rowCount === 0 ? null : code;
}

/** Sends another code. NOT_FOUND; CONFLICT for a channel that needs none; RATE_LIMITED within a minute of the last. */
export async function sendCode(database: Database, { organizationId }: Actor, id: string, at: Date): Promise<void> {
  await inTransaction(database, async (tx) => {
    const channel = await lockChannel(tx, organizationId, id);
    requireUnconfirmed(channel);
    const last = await tx.execute<{ ago: string | null }>(sql`select extract(epoch from ${at.toISOString()}::timestamptz - max(created_at)) * 1000 as ago from ${notifications} where channel_id = ${channel.id} and trigger = 'code'`);
    const ago = last.rows[0]?.ago ?? null;
    if (ago !== null && Number(ago) < PAUSE_MS) throw new Failure("RATE_LIMITED", "A code was sent less than a minute ago.", { retryAfter: Math.ceil((PAUSE_MS - Number(ago)) / 1_000), fix: "Wait a minute; messages can take some seconds." });
    await queueCode(tx, channel, at);
  });
}

/** Confirms a channel's number by the code that was sent there. NOT_FOUND; CONFLICT for a channel that needs none; INVALID_REQUEST for a wrong or old code. */
export async function confirmChannel(database: Database, actor: Actor, id: string, { code }: { code: string }, at: Date): Promise<Channel> {
  const confirmed = await inTransaction(database, async (tx) => {
    const channel = await lockChannel(tx, actor.organizationId, id);
    requireUnconfirmed(channel);
    if (!isRightCode(channel, { subject: channel.id, code, at })) {
      await tx.update(channels).set({ codeTries: channel.codeTries + 1 }).where(eq(channels.id, channel.id));
      return null;
    }
    const [row] = await tx.update(channels).set({ confirmedAt: at, codeHash: null, updatedAt: at > channel.updatedAt ? at : channel.updatedAt }).where(eq(channels.id, channel.id)).returning();
    await recordAudit(tx, actor, { action: "channel.confirmed", resourceType: "channel", resourceId: channel.id, before: auditedChannel(channel), after: auditedChannel(row!) });
    return showChannel(row!);
  });
  // After the wrong try was counted.
  if (confirmed === null) throw wrongCode("POST …/send-code");
  return confirmed;
}

function requireUnconfirmed({ type, confirmedAt }: ChannelRow): void {
  if (!needsConfirmation(type)) throw new Failure("CONFLICT", `A channel of type ${type} needs no confirmation.`, {});
  if (confirmedAt !== null) throw new Failure("CONFLICT", "The channel is confirmed already.", {});
}
