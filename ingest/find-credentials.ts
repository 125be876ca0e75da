import { and, isNull, or, sql, type Column, type SQL } from "drizzle-orm";
import { findApiKeys, type FoundApiKey } from "../domain/api-keys/find.ts";
import { hashApiKey } from "../domain/api-keys/format.ts";
import { isUuid } from "../platform/ids.ts";
import type { Queries } from "../platform/postgres/database.ts";
import { uuids } from "../platform/postgres/uuids.ts";
import { beaconKeys, heartbeatMonitors, services } from "../schemas/tables/all.ts";
import type { HeartbeatStatus, ScheduleType } from "../schemas/vocabulary.ts";

export interface CachedBeaconKey {
  id: string;
  organizationId: string;
  serviceId: string;
  allowedOrigins: string[] | null;
}

export interface CachedMonitor {
  id: string;
  status: HeartbeatStatus;
  scheduleType: ScheduleType;
  intervalSeconds: number | null;
  cron: string | null;
  timezone: string;
  graceSeconds: number;
}

export interface CachedService {
  id: string;
}

/** By the text that senders show; may be expired or revoked. */
export async function findByApiKey(queries: Queries, texts: readonly string[]): Promise<Map<string, FoundApiKey>> {
  const hashes = texts.map(hashApiKey);
  const found = new Map((await findApiKeys(queries, hashes)).map((key) => [key.hash.toString("base64"), key]));
  return valuesOf(texts, (_text, index) => found.get(hashes[index]!.toString("base64")));
}

export async function findByBeaconKey(queries: Queries, texts: readonly string[]): Promise<Map<string, CachedBeaconKey>> {
  const { key, id, organizationId, serviceId, allowedOrigins } = beaconKeys;
  const rows = await queries
    .select({ key, id, organizationId, serviceId, allowedOrigins })
    .from(beaconKeys)
    .where(and(sql`${key} = any(${sql.param(texts)}::text[])`, isNull(beaconKeys.deletedAt)));
  return new Map(rows.map(({ key, ...found }) => [key, found]));
}

/**
 * By `organization/id`, in small letters, and `organization/slug`. A slug that looks like an id
 * gives way to the monitor with that id.
 */
export async function findMonitors(queries: Queries, names: readonly string[]): Promise<Map<string, CachedMonitor>> {
  const { id, organizationId, slug, deletedAt, status, scheduleType, intervalSeconds, cron, timezone, graceSeconds } = heartbeatMonitors;
  const asked = names.map(splitName);
  const slugs = asked.map(({ rest }) => rest);
  const ids = uuids(slugs.filter(isUuid));
  const rows = await queries
    .select({ organizationId, slug, id, status, scheduleType, intervalSeconds, cron, timezone, graceSeconds })
    .from(heartbeatMonitors)
    .where(and(among(organizationId, asked), isNull(deletedAt), or(sql`${slug} = any(${sql.param(slugs)}::text[])`, sql`${id} = any(${ids})`)));
  const bySlug = new Map(rows.map(({ organizationId, slug, ...monitor }) => [`${organizationId}/${slug}`, monitor]));
  const byId = new Map(rows.map(({ organizationId, slug: _slug, ...monitor }) => [`${organizationId}/${monitor.id}`, monitor]));
  return valuesOf(names, (name) => byId.get(name) ?? bySlug.get(name));
}

/** By `organization/id`, in small letters. */
export async function findServices(queries: Queries, names: readonly string[]): Promise<Map<string, CachedService>> {
  const asked = names.map(splitName);
  const rows = await queries
    .select({ organizationId: services.organizationId, id: services.id })
    .from(services)
    .where(and(among(services.organizationId, asked), sql`${services.id} = any(${uuids(asked.map(({ rest }) => rest))})`));
  const found = new Map(rows.map(({ organizationId, id }) => [`${organizationId}/${id}`, { id }]));
  return valuesOf(names, (name) => found.get(name));
}

/** Statements keep one text for any number of values, so that they stay prepared. */
function among(column: Column, asked: readonly { organizationId: string }[]): SQL {
  return sql`${column} = any(${uuids(new Set(asked.map(({ organizationId }) => organizationId)))})`;
}

function splitName(name: string): { organizationId: string; rest: string } {
  return { organizationId: name.slice(0, 36), rest: name.slice(37) };
}

function valuesOf<V>(keys: readonly string[], valueOf: (key: string, index: number) => V | undefined): Map<string, V> {
  const values = new Map<string, V>();
  for (const [index, key] of keys.entries()) {
    const value = valueOf(key, index);
    if (value !== undefined) values.set(key, value);
  }
  return values;
}
