import type { FoundApiKey } from "../domain/api-keys/find.ts";
import { isWellFormedApiKey } from "../domain/api-keys/format.ts";
import { isWellFormedBeaconKey } from "../domain/beacon-keys/format.ts";
import { answerWithin } from "../platform/answer-within.ts";
import type { Clock } from "../platform/clock.ts";
import { isUuid } from "../platform/ids.ts";
import type { Log } from "../platform/log.ts";
import type { Database } from "../platform/postgres/database.ts";
import { findByApiKey, findByBeaconKey, findMonitors, findServices, type CachedBeaconKey, type CachedMonitor, type CachedService } from "./find-credentials.ts";
import { makeReadChanges, type Changes } from "./read-changes.ts";
import { makeRevalidatingCache } from "./revalidating-cache.ts";

/**
 * What the edge decides by, without asking Postgres for each request: keys, and the monitors and
 * services that requests name.
 */
export interface CredentialCache {
  /** Undefined: not known yet, ask `loadApiKey`. Null: known not to exist. */
  apiKey(key: string): FoundApiKey | null | undefined;
  loadApiKey(key: string): Promise<FoundApiKey | null>;
  /** Whether somebody else waits for `loadApiKey` of this key: it then costs nothing more. */
  isApiKeyLoading(key: string): boolean;
  beaconKey(key: string): CachedBeaconKey | null | undefined;
  loadBeaconKey(key: string): Promise<CachedBeaconKey | null>;
  monitor(organizationId: string, idOrSlug: string): CachedMonitor | null | undefined;
  loadMonitor(organizationId: string, idOrSlug: string): Promise<CachedMonitor | null>;
  service(organizationId: string, id: string): CachedService | null | undefined;
  loadService(organizationId: string, id: string): Promise<CachedService | null>;
  /**
   * Re-reads what changed; called by a timer and on a notification. Rejects while Postgres is away:
   * nothing is forgotten then.
   */
  refresh(): Promise<void>;
  /** Seconds since the last successful refresh. */
  staleSeconds(): number;
}

const OPTIONS = { capacity: 200_000, revalidateAfterMs: 60_000 };
/** A key is often tried again by who sends it, and none comes into being later. */
const ABSENT_KEY_MS = 10_000;
/**
 * Monitors and services are often made right before their first ping or push: absence is never
 * remembered.
 */
const NEVER = 0;
/** What an id or a slug is made of; what is not is no monitor, without a question. */
const MONITOR_NAME = /^[0-9a-zA-Z-]{3,63}$/;
/**
 * A refresh that takes longer is given up: its connection may have died without a word, and the
 * next one takes another.
 */
const REFRESH_MS = 2_000;

export function makeCredentialCache({ database, clock, log }: { database: Database; clock: Clock; log: Log }): CredentialCache {
  const options = { ...OPTIONS, clock };
  const idOf = ({ id }: { id: string }): string[] => [id];
  const keys = makeRevalidatingCache({ ...options, absentForMs: ABSENT_KEY_MS, marksOf: ({ id, organizationId }: FoundApiKey) => [id, organizationId], load: (texts) => findByApiKey(database, texts) });
  const beacons = makeRevalidatingCache({ ...options, absentForMs: ABSENT_KEY_MS, marksOf: ({ id, serviceId }: CachedBeaconKey) => [id, serviceId], load: (texts) => findByBeaconKey(database, texts) });
  const monitors = makeRevalidatingCache<CachedMonitor>({ ...options, absentForMs: NEVER, marksOf: idOf, load: (names) => findMonitors(database, names) });
  const services = makeRevalidatingCache<CachedService>({ ...options, absentForMs: NEVER, marksOf: idOf, load: (names) => findServices(database, names) });
  const readChanges = makeReadChanges(database);
  let refreshedAt = clock.monotonic();
  let refreshing: Promise<void> | null = null;
  let next: Promise<void> | null = null;

  async function refreshOnce(): Promise<void> {
    const changes = await answerWithin(REFRESH_MS, "PostgreSQL", readChanges());
    // A key carries its organization's plan.
    keys.revalidate([...changes.apiKeys, ...changes.organizations]);
    beacons.revalidate([...changes.beaconKeys, ...changes.removed]);
    monitors.revalidate(changes.monitors);
    services.revalidate(changes.removed);
    refreshedAt = clock.monotonic();
    log.trace(countOf(changes), "re-read what changed");
  }

  /** One at a time; however many ask during one, they share the next. */
  function refresh(): Promise<void> {
    if (refreshing === null) return (refreshing = refreshOnce().finally(() => (refreshing = null)));
    return (next ??= refreshing
      .catch(() => undefined)
      .then(() => {
        next = null;
        return refresh();
      }));
  }

  return {
    // Known first: whether a key is well formed only matters before it is asked for, and costs more
    // than the look.
    apiKey: (key) => keys.peek(key) ?? (isWellFormedApiKey(key) ? keys.peek(key) : null),
    loadApiKey: keys.get,
    isApiKeyLoading: keys.isLoading,
    beaconKey: (key) => beacons.peek(key) ?? (isWellFormedBeaconKey(key) ? beacons.peek(key) : null),
    loadBeaconKey: beacons.get,
    monitor: (organizationId, idOrSlug) => (MONITOR_NAME.test(idOrSlug) ? monitors.peek(nameOf(organizationId, idOrSlug)) : null),
    loadMonitor: (organizationId, idOrSlug) => monitors.get(nameOf(organizationId, idOrSlug)),
    service: (organizationId, id) => (isUuid(id) ? services.peek(nameOf(organizationId, id)) : null),
    loadService: (organizationId, id) => services.get(nameOf(organizationId, id)),
    refresh,
    staleSeconds: () => (clock.monotonic() - refreshedAt) / 1_000,
  };
}

/**
 * An id has one name however its letters are written: spellings of one monitor must not fill the
 * cache.
 */
function nameOf(organizationId: string, idOrSlug: string): string {
  return `${organizationId}/${idOrSlug.length === 36 && isUuid(idOrSlug) ? idOrSlug.toLowerCase() : idOrSlug}`;
}

function countOf(changes: Changes): Record<string, number> {
  return Object.fromEntries(Object.entries(changes).map(([kind, ids]: [string, string[]]) => [kind, ids.length]));
}
