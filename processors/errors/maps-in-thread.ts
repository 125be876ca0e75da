import { once } from "node:events";
import type { MessagePort } from "node:worker_threads";
import { LRUCache } from "lru-cache";
import type { StackFacts } from "../../domain/errors/stack-facts.ts";
import type { MapsOf } from "../../domain/errors/rows-of-body.ts";
import type { ScriptMaps } from "../../domain/errors/symbolicate.ts";
import { hashOf, type MapKey } from "../../domain/source-maps/find-maps.ts";
import { openIndex, type FlatIndex } from "../../domain/source-maps/flat-index.ts";
import { matchUrl } from "../../domain/source-maps/match-url.ts";
import { storedOriginal, type Original, type PlaceInScript } from "../../domain/source-maps/original-of.ts";

/** What a thread asks of the one that has the database, over a task's port. */
export type MapsRequest =
  | { kind: "services"; ids: string[] }
  | { kind: "releases"; releases: [serviceId: string, release: string][] }
  | { kind: "debugIds"; wanted: [serviceId: string, debugId: string][] }
  | { kind: "index"; map: MapKey };

export interface MapsAnswers {
  /** Those that have any map. */
  services: string[];
  releases: [url: string, map: MapKey][][];
  debugIds: (MapKey | null)[];
  /** Null when it was deleted meanwhile. */
  index: SharedArrayBuffer | null;
}

/** One attempt at a task: says which maps are at hand, and notes which are wanted. */
interface MapsPass {
  mapsOf: MapsOf;
  /** Whether something was wanted that was not at hand: then what was made of it does not count. */
  wanting(): boolean;
  /** Gets what was wanted. Rejects when it cannot be had now. */
  fetch(port: MessagePort): Promise<void>;
}

/** The maps that a thread knows; `bytes` is how much of their indexes it keeps at hand, memory it shares with the thread that gave them. */
interface ThreadMaps {
  /** A new `generation` says that maps have come or gone. */
  begin(generation: number): () => MapsPass;
}

let threadMaps: ThreadMaps | null = null;

/** Where a task may ask for maps. */
export interface MapsOfTask {
  port: MessagePort;
  /** How many changes of maps there have been. */
  generation: number;
  /** Of indexes to keep at hand. */
  bytes: number;
}

/**
 * Gives what `read` makes with all the maps that it wants. Nearly always they are at hand; when one is not, everything is
 * read once more with it: that is rarer than looking ahead would be dear.
 */
export type MapsReading = <Result>(read: (mapsOf: MapsOf) => Result) => Promise<Result>;

/** Makes the function for one task. Maps that it gets for one `read` are at hand for the next ones. */
export function makeMapsReading(maps: MapsOfTask): MapsReading {
  threadMaps ??= makeThreadMaps(maps.bytes);
  const begin = threadMaps.begin(maps.generation);
  return async (read) => {
    for (;;) {
      const pass = begin();
      const result = read(pass.mapsOf);
      if (!pass.wanting()) return result;
      await pass.fetch(maps.port);
    }
  };
}

type Found = Original | "map_invalid" | null;
type Opened = FlatIndex | "map_invalid";

/** What a task got, kept until its end: the caches may be too small for it. Of an index only the places that were looked up. */
interface Got {
  hasMaps: Map<string, boolean>;
  releases: Map<string, Map<string, MapKey>>;
  byDebugId: Map<string, { map: MapKey | null }>;
  answers: Map<string, Found>;
}

const REMEMBERED = { services: 20_000, urls: 200_000, debugIds: 50_000, viewCharacters: 2_000_000, shownCharacters: 32_000_000 } as const;
/** Longer than the store's own time limits: it answers that it cannot before that. */
const ANSWER_MS = 20_000;

function makeThreadMaps(bytes: number): ThreadMaps {
  let known = NaN;
  let shown = 0;
  const hasMaps = new LRUCache<string, boolean>({ max: REMEMBERED.services });
  const releases = new LRUCache<string, Map<string, MapKey>>({ maxSize: REMEMBERED.urls, sizeCalculation: (urls) => urls.size + 1 });
  const byDebugId = new LRUCache<string, { map: MapKey | null }>({ max: REMEMBERED.debugIds });
  /** What was symbolicated is kept with the maps that it was made with. */
  const views = new LRUCache<string, ScriptMaps["known"]>({ maxSize: REMEMBERED.viewCharacters, sizeCalculation: (_made, view) => view.length + 100 });
  const indexes = new LRUCache<MapKey, Opened>({ maxSize: bytes, sizeCalculation: (index) => (index === "map_invalid" ? 1 : index.bytes) });

  function forget(): void {
    for (const cache of [hasMaps, releases, byDebugId, views]) cache.clear();
    shown = 0;
  }

  /** Of one view. What all of them hold together is bounded: a sender can make up releases without end. */
  function makeKnown(): ScriptMaps["known"] {
    const known = new WeakMap<StackFacts, StackFacts>();
    return {
      get: (facts) => known.get(facts),
      set(facts, mapped) {
        shown += mapped === facts ? 0 : (mapped.shown?.length ?? 0);
        if (shown > REMEMBERED.shownCharacters) {
          views.clear();
          shown = 0;
        }
        return known.set(facts, mapped);
      },
    };
  }

  function makePass({ answers, ...got }: Got): MapsPass {
    const services = new Set<string>();
    const wantedReleases = new Map<string, [string, string]>();
    const wantedIds = new Map<string, [string, string]>();
    const places = new Map<MapKey, PlaceInScript[]>();

    function mapByDebugId(serviceId: string, debugId: string): MapKey | null | undefined {
      const key = `${serviceId} ${debugId}`;
      const found = byDebugId.get(key) ?? got.byDebugId.get(key);
      if (!found) wantedIds.set(key, [serviceId, debugId]);
      return found?.map;
    }

    function mapByUrl(serviceId: string, release: string, url: string): MapKey | null | undefined {
      if (release === "") return null;
      const key = `${serviceId} ${release}`;
      const urls = releases.get(key) ?? got.releases.get(key);
      if (!urls) {
        wantedReleases.set(key, [serviceId, release]);
        return undefined;
      }
      if (urls.size === 0) return null;
      return matchUrl(urls, url);
    }

    function find(map: MapKey, place: PlaceInScript): Found | undefined {
      const index = indexes.get(map);
      if (index !== undefined) return originalIn(index, map, place);
      const answer = answers.get(keyOfPlace(map, place));
      if (answer === undefined) {
        const some = places.get(map);
        if (some) some.push(place);
        else places.set(map, [place]);
      }
      return answer;
    }

    return {
      mapsOf(serviceId, release, debugIds) {
        const any = hasMaps.get(serviceId) ?? got.hasMaps.get(serviceId);
        if (any === undefined) services.add(serviceId);
        if (!any) return null;
        const view = `${serviceId} ${release}${debugIds === null ? "" : ` ${JSON.stringify(debugIds)}`}`;
        let made = views.get(view);
        if (!made) views.set(view, (made = makeKnown()));
        return {
          known: made,
          mapOf(url) {
            const debugId = debugIds !== null && Object.hasOwn(debugIds, url) ? debugIds[url]! : null;
            const exact = debugId === null ? null : mapByDebugId(serviceId, debugId);
            return exact === null ? mapByUrl(serviceId, release, url) : exact;
          },
          find,
        };
      },
      wanting: () => services.size + wantedReleases.size + wantedIds.size + places.size > 0,
      async fetch(port) {
        const ask = <Kind extends MapsRequest["kind"]>(request: Extract<MapsRequest, { kind: Kind }>) => askFor<Kind>(port, request);
        if (services.size > 0) {
          const having = new Set(await ask<"services">({ kind: "services", ids: [...services] }));
          for (const id of services) keep(id, having.has(id), hasMaps, got.hasMaps);
        }
        if (wantedReleases.size > 0) {
          const found = await ask<"releases">({ kind: "releases", releases: [...wantedReleases.values()] });
          for (const [index, key] of [...wantedReleases.keys()].entries()) keep(key, new Map(found[index]), releases, got.releases);
        }
        if (wantedIds.size > 0) {
          const found = await ask<"debugIds">({ kind: "debugIds", wanted: [...wantedIds.values()] });
          for (const [index, key] of [...wantedIds.keys()].entries()) keep(key, { map: found[index]! }, byDebugId, got.byDebugId);
        }
        for (const [map, wanted] of places) {
          const shared = await ask<"index">({ kind: "index", map });
          // One that was deleted a moment ago is out of the way with the next generation; uploaded again it has the same name.
          const index = shared === null ? "map_invalid" : opened(shared);
          if (shared !== null) indexes.set(map, index);
          for (const place of wanted) answers.set(keyOfPlace(map, place), originalIn(index, map, place));
        }
      },
    };
  }

  return {
    begin(generation) {
      if (generation !== known) forget();
      known = generation;
      const got: Got = { hasMaps: new Map(), releases: new Map(), byDebugId: new Map(), answers: new Map() };
      return () => makePass(got);
    },
  };
}

function keep<Value extends {}>(key: string, value: Value, cache: LRUCache<string, Value>, got: Map<string, Value>): void {
  cache.set(key, value);
  got.set(key, value);
}

function opened(shared: SharedArrayBuffer): Opened {
  try {
    return openIndex(Buffer.from(shared));
  } catch (error) {
    if (error instanceof RangeError) return "map_invalid";
    throw error;
  }
}

function keyOfPlace(map: MapKey, { line, column, withText }: PlaceInScript): string {
  return `${map} ${line} ${column} ${withText}`;
}

function originalIn(index: Opened, map: MapKey, place: PlaceInScript): Found {
  return index === "map_invalid" ? index : storedOriginal(index, hashOf(map), place);
}

async function askFor<Kind extends MapsRequest["kind"]>(port: MessagePort, request: MapsRequest): Promise<MapsAnswers[Kind]> {
  const answered = once(port, "message", { signal: AbortSignal.timeout(ANSWER_MS) });
  port.postMessage(request);
  const [{ answer, failure }] = (await answered) as [{ answer: MapsAnswers[Kind]; failure?: string }];
  if (failure !== undefined) throw new Error(failure);
  return answer;
}
