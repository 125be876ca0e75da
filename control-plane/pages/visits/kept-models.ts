import { setTimeout as rest } from "node:timers/promises";
import { LRUCache } from "lru-cache";
import type { Clock } from "../../../platform/clock.ts";
import type { Log } from "../../../platform/log.ts";

/** What was read for a page, and how current it is. */
export interface Held<Model> {
  model: Model;
  /** Since when (milliseconds since the epoch) it could not be read again; null while it could. */
  staleSince: number | null;
}

interface Entry extends Held<unknown> {
  /** Whose changes outdate it; null: anybody's. */
  owner: string | null;
  /** Drops that had happened when its reading began. */
  version: number;
  /** By the wall's clock, for people. */
  readAt: number;
  /** By the monotonic clock; a failed reading counts too. */
  triedAt: number;
}

/** After this it is read again while visitors still get what is there; a notification that was lost is made up for. */
const FRESH_MS = 10_000;
/** After this a visitor waits for the reading. */
const USABLE_MS = 20_000;
/** After a reading that failed. */
const RETRY_MS = 1_000;
/** So long somebody waits who can be shown something: a database that hangs must not take the page with it. */
const PATIENCE_MS = 1_000;

const MOST_KEPT = 2_000;

/** What is older says nothing of how things are, and who may see it may have changed. */
const OLDEST_MS = 86_400_000;

export interface KeptModels {
  /**
   * The model of this key, read when it is not there, is outdated or was dropped. While it cannot be read, the last one that was, marked;
   * rejects when there is none. However many ask, one reading runs at a time. `ownerOf` tells the organization whose changes outdate a
   * model; null when anybody's may.
   */
  get<Model>(key: string, ownerOf: (model: Model) => string | null, read: () => Promise<Model>): Promise<Held<Model>>;
  /** What was read of this owner is read again before anybody gets it; of everybody when it is null. */
  drop(owner: string | null): void;
}

/** Keeps what pages are drawn from in memory, in any number of processes: nothing here is missed by another copy. */
export function makeKeptModels({ clock, log, maxBytes }: { clock: Clock; log: Log; maxBytes: number }): KeptModels {
  const found = new LRUCache<string, Entry>({ max: MOST_KEPT, maxSize: maxBytes, sizeCalculation: ({ model }) => 1_000 + 2 * JSON.stringify(model).length });
  // Whoever asks for what does not exist, by the thousand, shall not displace what does.
  const absent = new LRUCache<string, Entry>({ max: MOST_KEPT });
  const reading = new Map<string, { version: number; done: Promise<Entry> }>();
  /** Drops so far, and the number of each owner's last; of one that is forgotten, as good as the newest that was forgotten. */
  let drops = 0;
  let floor = 0;
  const lastDrop = new LRUCache<string, number>({ max: 10 * MOST_KEPT, dispose: (drop, _owner, why) => void (why === "evict" && (floor = Math.max(floor, drop))) });

  const neededBy = (owner: string | null) => (owner === null ? drops : Math.max(lastDrop.get(owner) ?? 0, floor));

  const known = (key: string) => found.get(key) ?? absent.get(key);

  function keep(key: string, entry: Entry): Entry {
    const [into, from] = entry.model === null ? [absent, found] : [found, absent];
    from.delete(key);
    into.set(key, entry);
    return entry;
  }

  async function readNow<Model>(key: string, ownerOf: (model: Model) => string | null, read: () => Promise<Model>): Promise<Entry> {
    const version = drops;
    const readAt = clock.now();
    try {
      const model = await read();
      const entry: Entry = { model, staleSince: null, owner: ownerOf(model), version, readAt, triedAt: clock.monotonic() };
      // Unless a later reading was faster.
      return (known(key)?.version ?? 0) <= version ? keep(key, entry) : entry;
    } catch (error) {
      const last = known(key);
      if (!last || clock.now() - last.readAt > OLDEST_MS) throw error;
      log.warn({ err: error, key }, "a page could not be read again; its last state is shown");
      return keep(key, { ...last, staleSince: last.staleSince ?? last.readAt, version, triedAt: clock.monotonic() });
    }
  }

  /** Joins a reading that runs, unless it began too early. */
  function refresh<Model>(key: string, needed: number, ownerOf: (model: Model) => string | null, read: () => Promise<Model>): Promise<Entry> {
    const running = reading.get(key);
    if (running && running.version >= needed) return running.done;
    const version = drops;
    const done = readNow(key, ownerOf, read).finally(() => {
      if (reading.get(key)?.done === done) reading.delete(key);
    });
    reading.set(key, { version, done });
    return done;
  }

  return {
    async get<Model>(key: string, ownerOf: (model: Model) => string | null, read: () => Promise<Model>) {
      const entry = known(key);
      if (!entry) {
        const asked = drops;
        const first = await refresh(key, floor, ownerOf, read);
        // Whose it is was not known before: a reading that was joined may have begun before a drop that was over when we asked.
        const needed = Math.min(neededBy(first.owner), asked);
        return (first.version < needed ? await refresh(key, needed, ownerOf, read) : first) as Held<Model>;
      }
      const needed = neededBy(entry.owner);
      const age = clock.monotonic() - entry.triedAt;
      if (entry.version < needed || age >= USABLE_MS) return (await inTime(refresh(key, needed, ownerOf, read), entry)) as Held<Model>;
      if (age >= (entry.staleSince === null ? FRESH_MS : RETRY_MS)) refresh(key, needed, ownerOf, read).catch(() => undefined);
      return entry as Held<Model>;
    },
    drop(owner) {
      drops += 1;
      if (owner === null) floor = drops;
      else lastDrop.set(owner, drops);
    },
  };
}

/** The entry that is being read, or the known one, marked, when that takes too long. */
async function inTime(fresh: Promise<Entry>, known: Entry): Promise<Held<unknown>> {
  const late = new AbortController();
  const waited = rest(PATIENCE_MS, undefined, { signal: late.signal }).then(
    () => ({ model: known.model, staleSince: known.staleSince ?? known.readAt }),
    () => known,
  );
  try {
    return await Promise.race([fresh, waited]);
  } finally {
    late.abort();
  }
}
