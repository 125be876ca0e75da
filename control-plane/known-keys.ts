import { findApiKeys, type FoundApiKey } from "../domain/api-keys/find.ts";
import { hashApiKey } from "../domain/api-keys/format.ts";
import { noteKeyUses } from "../domain/api-keys/note-used.ts";
import type { Clock } from "../platform/clock.ts";
import { makeLoadTogether } from "../platform/load-together.ts";
import type { Log } from "../platform/log.ts";
import { isPostgresAway, type Database } from "../platform/postgres/database.ts";

/** API keys as the control plane knows them. */
export interface KnownKeys {
  /** Whether `find` begins a look-up of a key that is not known yet. */
  needsLookUp(key: string): boolean;
  /** Whether the key is known, or being looked up right now. */
  mayExist(key: string): boolean;
  /**
   * The key, which may be expired or revoked; null when no such key exists. Rejects for a key that is not known when
   * Postgres is away, or with TooManyLoads.
   */
  find(key: string): Promise<FoundApiKey | null>;
  /** Remembers that a key was used; written at most once a minute for each key, many at once. */
  noteUse(id: string): void;
  /** Writes what is still to be written. */
  close(): Promise<void>;
}

/** A key is asked for again after this: a revocation has to work within 5 s. */
const FRESH_MS = 2_000;
const CAPACITY = 50_000;
/** Keys whose hash is kept beside their text: a request asks for it several times. */
const MOST_HASHED = 10_000;
/** So long it is remembered that a key does not exist; none comes into being later. */
const ABSENT_MS = 10_000;
/** Absences have a map of their own: keys that somebody makes up must not push out those that exist. */
const MAX_ABSENCES = 10_000;

interface Entry {
  key: FoundApiKey;
  readAt: number;
}

export function makeKnownKeys({ database, clock, log }: { database: Database; clock: Clock; log: Log }): KnownKeys {
  /** By hash; the least recently used first. */
  const entries = new Map<string, Entry>();
  /** The monotonic ms until which an absence counts, by hash. */
  const absences = new Map<string, number>();
  /** The hashes of keys that exist, by their text. */
  const hashed = new Map<string, string>();
  const lookUps = makeLoadTogether({ load });
  /** Of its own: however many unknown keys are looked up, those that exist are read again in time. */
  const readings = makeLoadTogether({ load, maxLoads: CAPACITY });
  const uses = noteKeyUses({ database, clock, log });

  async function load(names: readonly string[]): Promise<ReadonlyMap<string, FoundApiKey>> {
    const rows = await findApiKeys(database, names.map((name) => Buffer.from(name, "base64")));
    const found = new Map(rows.map((key) => [key.hash.toString("base64"), key]));
    for (const name of names) remember(name, found.get(name));
    return found;
  }

  function remember(name: string, key: FoundApiKey | undefined): void {
    entries.delete(name);
    if (key === undefined) {
      absences.set(name, clock.monotonic() + ABSENT_MS);
      if (absences.size > MAX_ABSENCES) absences.delete(absences.keys().next().value!);
      return;
    }
    entries.set(name, { key, readAt: clock.monotonic() });
    if (entries.size > CAPACITY) entries.delete(entries.keys().next().value!);
  }

  function isAbsent(name: string): boolean {
    const until = absences.get(name);
    if (until === undefined) return false;
    if (clock.monotonic() < until) return true;
    absences.delete(name);
    return false;
  }

  function nameOf(key: string): string {
    const known = hashed.get(key);
    if (known !== undefined) return known;
    const name = hashApiKey(key).toString("base64");
    if (!entries.has(name)) return name;
    if (hashed.size >= MOST_HASHED) hashed.clear();
    hashed.set(key, name);
    return name;
  }

  const nameMayExist = (name: string): boolean => entries.has(name) || lookUps.isLoading(name);

  return {
    needsLookUp(key) {
      const name = nameOf(key);
      return !nameMayExist(name) && !isAbsent(name);
    },
    mayExist: (key) => nameMayExist(nameOf(key)),
    async find(key) {
      const name = nameOf(key);
      const entry = entries.get(name);
      if (!entry) return isAbsent(name) ? null : lookUps.load(name);
      if (clock.monotonic() - entry.readAt < FRESH_MS) {
        entries.delete(name);
        entries.set(name, entry);
        return entry.key;
      }
      return readings.load(name).catch((error: unknown) => {
        // While Postgres is away those who are known go on; nobody new can be told from a stranger.
        if (isPostgresAway(error)) return entry.key;
        throw error;
      });
    },
    noteUse: (id) => uses.note(id),
    close: () => uses.close(),
  };
}
