import { and, eq, gt, isNull, or, sql } from "drizzle-orm";
import { isWellFormedBeaconKey } from "../domain/beacon-keys/format.ts";
import { findApiKeys, type FoundApiKey } from "../domain/api-keys/find.ts";
import { hashApiKey, isWellFormedApiKey } from "../domain/api-keys/format.ts";
import type { Clock } from "../platform/clock.ts";
import { isUuid } from "../platform/ids.ts";
import type { Log } from "../platform/log.ts";
import type { Database } from "../platform/postgres/database.ts";
import { apiKeys, beaconKeys, heartbeatMonitors, organizations, removals, services } from "../schemas/tables/all.ts";
import type { HeartbeatStatus, ScheduleType } from "../schemas/vocabulary.ts";
import { makeFreshCache } from "./fresh-cache.ts";

/** What the edge decides by, without asking Postgres for each request. */
export interface Known {
  /** Undefined: not known yet, ask `loadApiKey`. Null: known not to exist. */
  apiKey(key: string): FoundApiKey | null | undefined;
  loadApiKey(key: string): Promise<FoundApiKey | null>;
  beaconKey(key: string): KnownBeaconKey | null | undefined;
  loadBeaconKey(key: string): Promise<KnownBeaconKey | null>;
  monitor(organizationId: string, idOrSlug: string): KnownMonitor | null | undefined;
  loadMonitor(organizationId: string, idOrSlug: string): Promise<KnownMonitor | null>;
  service(organizationId: string, id: string): { id: string } | null | undefined;
  loadService(organizationId: string, id: string): Promise<{ id: string } | null>;
  /** Re-reads what changed; called by a timer and on a notification. */
  refresh(): Promise<void>;
  /** Seconds since the last successful refresh. */
  staleSeconds(): number;
}

export interface KnownBeaconKey {
  id: string;
  organizationId: string;
  serviceId: string;
  allowedOrigins: string[] | null;
}

export interface KnownMonitor {
  id: string;
  status: HeartbeatStatus;
  scheduleType: ScheduleType;
  intervalSeconds: number | null;
  cron: string | null;
  timezone: string;
  graceSeconds: number;
}

/** Rows changed within this time are read again at each refresh: longer than any transaction may last. */
const CHANGE_WINDOW = sql`clock_timestamp() - interval '1 minute'`;

const OPTIONS = { capacity: 200_000, refreshAfterMs: 60_000 };

export function makeKnown({ database, clock, log }: { database: Database; clock: Clock; log: Log }): Known {
  let refreshedAt = clock.monotonic();

  const keys = makeFreshCache<FoundApiKey>({
    ...OPTIONS,
    clock,
    absentForMs: 2_000,
    load: async (key) => (await findApiKeys(database, [hashApiKey(key)]))[0] ?? null,
  });
  const beacons = makeFreshCache<KnownBeaconKey>({
    ...OPTIONS,
    clock,
    absentForMs: 2_000,
    load: async (key) => {
      const columns = { id: beaconKeys.id, organizationId: beaconKeys.organizationId, serviceId: beaconKeys.serviceId, allowedOrigins: beaconKeys.allowedOrigins };
      const [row] = await database.select(columns).from(beaconKeys).where(and(eq(beaconKeys.key, key), isNull(beaconKeys.deletedAt)));
      return row ?? null;
    },
  });
  // Monitors and services are often made right before their first ping or push: absence is never remembered.
  const monitors = makeFreshCache<KnownMonitor>({
    ...OPTIONS,
    clock,
    absentForMs: 0,
    load: async (name) => {
      const [organizationId, idOrSlug] = splitName(name);
      const { id, status, scheduleType, intervalSeconds, cron, timezone, graceSeconds } = heartbeatMonitors;
      const named = isUuid(idOrSlug) ? or(eq(id, idOrSlug), eq(heartbeatMonitors.slug, idOrSlug)) : eq(heartbeatMonitors.slug, idOrSlug);
      const [row] = await database
        .select({ id, status, scheduleType, intervalSeconds, cron, timezone, graceSeconds })
        .from(heartbeatMonitors)
        .where(and(eq(heartbeatMonitors.organizationId, organizationId), isNull(heartbeatMonitors.deletedAt), named))
        .limit(1);
      return row ?? null;
    },
  });
  const knownServices = makeFreshCache<{ id: string }>({
    ...OPTIONS,
    clock,
    absentForMs: 0,
    load: async (name) => {
      const [organizationId, id] = splitName(name);
      const [row] = await database.select({ id: services.id }).from(services).where(and(eq(services.organizationId, organizationId), eq(services.id, id)));
      return row ?? null;
    },
  });

  async function refresh(): Promise<void> {
    const [changedKeys, changedBeacons, changedMonitors, changedOrganizations, removed] = await Promise.all([
      database.select({ id: apiKeys.id }).from(apiKeys).where(gt(apiKeys.changedAt, CHANGE_WINDOW)),
      database.select({ id: beaconKeys.id }).from(beaconKeys).where(gt(beaconKeys.changedAt, CHANGE_WINDOW)),
      database.select({ id: heartbeatMonitors.id }).from(heartbeatMonitors).where(gt(heartbeatMonitors.changedAt, CHANGE_WINDOW)),
      database.select({ id: organizations.id }).from(organizations).where(gt(organizations.updatedAt, CHANGE_WINDOW)),
      database.select({ id: removals.id }).from(removals).where(gt(removals.removedAt, CHANGE_WINDOW)),
    ]);
    evict(keys, changedKeys);
    evict(beacons, [...changedBeacons, ...removed]);
    evict(knownServices, removed);
    evict(monitors, changedMonitors);
    const plans = new Set(changedOrganizations.map(({ id }) => id));
    if (plans.size > 0) keys.evictWhere((key) => plans.has(key.organizationId));
    refreshedAt = clock.monotonic();
    log.trace({ keys: changedKeys.length, beacons: changedBeacons.length, monitors: changedMonitors.length }, "re-read what changed");
  }

  function evict(cache: { evictWhere(matches: (value: { id: string }) => boolean): void }, changed: { id: string }[]): void {
    const ids = new Set(changed.map(({ id }) => id));
    if (ids.size > 0) cache.evictWhere((value) => ids.has(value.id));
  }

  return {
    // Known first: whether a key is well formed only matters before it is asked for, and costs more than the look.
    apiKey: (key) => keys.peek(key) ?? (isWellFormedApiKey(key) ? keys.peek(key) : null),
    loadApiKey: keys.get,
    beaconKey: (key) => beacons.peek(key) ?? (isWellFormedBeaconKey(key) ? beacons.peek(key) : null),
    loadBeaconKey: beacons.get,
    monitor: (organizationId, idOrSlug) => monitors.peek(`${organizationId}/${idOrSlug}`),
    loadMonitor: (organizationId, idOrSlug) => monitors.get(`${organizationId}/${idOrSlug}`),
    service: (organizationId, id) => (isUuid(id) ? knownServices.peek(`${organizationId}/${id}`) : null),
    loadService: (organizationId, id) => knownServices.get(`${organizationId}/${id}`),
    refresh,
    staleSeconds: () => (clock.monotonic() - refreshedAt) / 1_000,
  };
}

function splitName(name: string): [organizationId: string, rest: string] {
  return [name.slice(0, 36), name.slice(37)];
}
