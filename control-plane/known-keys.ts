import { findApiKeys, type FoundApiKey } from "../domain/api-keys/find.ts";
import { hashApiKey } from "../domain/api-keys/format.ts";
import { noteKeyUses } from "../domain/api-keys/note-used.ts";
import type { Clock } from "../platform/clock.ts";
import type { Log } from "../platform/log.ts";
import { isPostgresAway, type Database } from "../platform/postgres/database.ts";

/** API keys as the control plane knows them. */
export interface KnownKeys {
  /** The key, which may be expired or revoked; null when no such key exists. Rejects when Postgres is away and the key is not known. */
  find(key: string): Promise<FoundApiKey | null>;
  /** Remembers that a key was used; written at most once a minute for each key, many at once. */
  noteUse(id: string): void;
  /** Writes what is still to be written. */
  close(): Promise<void>;
}

/** A key is asked for again after this: a revocation has to work within 5 s. */
const FRESH_MS = 2_000;
const CAPACITY = 50_000;

interface Entry {
  key: FoundApiKey | null;
  readAt: number;
}

export function makeKnownKeys({ database, clock, log }: { database: Database; clock: Clock; log: Log }): KnownKeys {
  /** By hash; the least recently used first. */
  const entries = new Map<string, Entry>();
  const loading = new Map<string, Promise<FoundApiKey | null>>();
  const uses = noteKeyUses({ database, clock, log });

  async function load(hash: Buffer, name: string): Promise<FoundApiKey | null> {
    try {
      const key = (await findApiKeys(database, [hash]))[0] ?? null;
      remember(name, { key, readAt: clock.monotonic() });
      return key;
    } catch (error) {
      // While Postgres is away those who are known go on; nobody new can be told from a stranger.
      const known = entries.get(name)?.key;
      if (known && isPostgresAway(error)) return known;
      throw error;
    }
  }

  function remember(name: string, entry: Entry): void {
    entries.delete(name);
    entries.set(name, entry);
    if (entries.size > CAPACITY) entries.delete(entries.keys().next().value!);
  }

  return {
    async find(key) {
      const hash = hashApiKey(key);
      const name = hash.toString("base64");
      const entry = entries.get(name);
      if (entry && clock.monotonic() - entry.readAt < FRESH_MS) {
        remember(name, entry);
        return entry.key;
      }
      const promise = loading.get(name) ?? load(hash, name).finally(() => loading.delete(name));
      loading.set(name, promise);
      return promise;
    },
    noteUse: (id) => uses.note(id),
    close: () => uses.close(),
  };
}
