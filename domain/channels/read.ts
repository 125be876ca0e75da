import { and, desc, eq } from "drizzle-orm";
import { Failure } from "../../platform/failures.ts";
import { isUuid } from "../../platform/ids.ts";
import type { Queries, Transaction } from "../../platform/postgres/database.ts";
import type { Channel, ChannelListQuery } from "../../schemas/api/channels.ts";
import { channels } from "../../schemas/tables/all.ts";
import { isConfirmed } from "./confirmation.ts";
import { auditedConfig, maskConfig } from "./mask-config.ts";

export type ChannelRow = typeof channels.$inferSelect;

/** Channels of an organization, newest first. */
export async function listChannels(queries: Queries, organizationId: string, { limit, offset }: ChannelListQuery): Promise<Channel[]> {
  const rows = await queries.select().from(channels).where(eq(channels.organizationId, organizationId)).orderBy(desc(channels.createdAt), desc(channels.id)).limit(limit).offset(offset);
  return rows.map(showChannel);
}

/** NOT_FOUND for ids that are unknown, malformed or of another organization. */
export async function getChannel(queries: Queries, organizationId: string, id: string): Promise<Channel> {
  const [row] = isUuid(id) ? await queries.select().from(channels).where(own(organizationId, id)) : [];
  if (!row) throw noSuchChannel();
  return showChannel(row);
}

/** A channel as it is stored, locked until the transaction ends. NOT_FOUND as `getChannel`. */
export async function lockChannel(tx: Transaction, organizationId: string, id: string): Promise<ChannelRow> {
  const [row] = isUuid(id) ? await tx.select().from(channels).where(own(organizationId, id)).for("no key update") : [];
  if (!row) throw noSuchChannel();
  return row;
}

/** As the API shows it: with its secrets masked. */
export function showChannel(row: ChannelRow): Channel {
  return {
    id: row.id,
    type: row.type,
    name: row.name,
    enabled: row.enabled,
    confirmed: isConfirmed(row),
    config: maskConfig(row.config),
    notify_on_incident: row.notifyOnIncident,
    notify_on_maintenance: row.notifyOnMaintenance,
    created_at: row.createdAt.toISOString(),
    updated_at: row.updatedAt.toISOString(),
  };
}

/** As the audit log is given it: the secrets whole, so that a changed one is noticed; it masks them itself. */
export function auditedChannel(row: ChannelRow): Record<string, unknown> {
  return { ...showChannel(row), config: auditedConfig(row.type, row.config) };
}

function own(organizationId: string, id: string) {
  return and(eq(channels.organizationId, organizationId), eq(channels.id, id));
}

function noSuchChannel(): Failure {
  return new Failure("NOT_FOUND", "No such notification channel.");
}
