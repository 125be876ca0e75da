import { MessageChannel, type MessagePort } from "node:worker_threads";
import { LRUCache } from "lru-cache";
import { mapsOfDebugIds, mapsOfReleases, readIndex, servicesWithMaps, type MapKey } from "../../domain/source-maps/find-maps.ts";
import type { Log } from "../../platform/log.ts";
import type { Database } from "../../platform/postgres/database.ts";
import { listenTo } from "../../platform/postgres/listen.ts";
import type { WorkerPool } from "../../platform/worker-pool.ts";
import { TriedAgain } from "../consume/decide-failure.ts";
import type { MapsAnswers, MapsOfTask, MapsRequest } from "./maps-in-thread.ts";

/** A pool whose threads can ask for source maps. */
export function withMaps<Task extends { maps?: MapsOfTask }, Result>(pool: WorkerPool<Task, Result>, maps: MapServer): WorkerPool<Task, Result> {
  return {
    run: (task) => maps.during((port, generation, bytes) => pool.run(Object.assign(task, { maps: { port, generation, bytes } }), [port])),
    close: () => pool.close(),
  };
}

/** Gives worker threads the source maps that they ask for: they have no way to the database themselves. */
export interface MapServer {
  /** Runs a task with a port that is answered meanwhile, the number of the maps' generation, and how many bytes of indexes to keep. Rejects with TriedAgain when a map could not be had. */
  during<Result>(run: (port: MessagePort, generation: number, bytes: number) => Promise<Result>): Promise<Result>;
  /** Maps have come or gone: what threads know of them is asked for once more. It is heard of by itself too, a little later. */
  changed(): void;
  stop(): Promise<void>;
}

interface MapServerNeeds {
  database: Database;
  databaseUrl: string;
  log: Log;
  /** How much of the maps' indexes is kept in memory, in bytes. */
  bytes: number;
}

/** A change that was not announced, for a connection that nobody saw break, is noticed after so long. */
const LOOK_AGAIN_MS = 30_000;

export function startMapServer({ database, databaseUrl, log, bytes }: MapServerNeeds): MapServer {
  let generation = 0;
  const indexes = new LRUCache<MapKey, SharedArrayBuffer>({ maxSize: bytes, sizeCalculation: (shared) => Math.max(shared.byteLength, 1) });
  const changed = () => void generation++;
  const listening = listenTo({ connectionString: databaseUrl, channel: "pharos_source_maps", onNotify: changed, log });
  const timer = setInterval(changed, LOOK_AGAIN_MS);

  async function answer(request: MapsRequest): Promise<MapsAnswers[MapsRequest["kind"]]> {
    switch (request.kind) {
      case "services":
        return [...(await servicesWithMaps(database, request.ids))];
      case "releases":
        return mapsOfReleases(database, request.releases);
      case "debugIds":
        return mapsOfDebugIds(database, request.wanted);
      default:
        return indexes.get(request.map) ?? shared(request.map);
    }
  }

  async function shared(map: MapKey): Promise<SharedArrayBuffer | null> {
    const index = await readIndex(database, map);
    if (index === null) return null;
    const memory = new SharedArrayBuffer(index.byteLength);
    index.copy(Buffer.from(memory));
    indexes.set(map, memory);
    return memory;
  }

  return {
    async during(run) {
      const { port1, port2 } = new MessageChannel();
      let failed: unknown;
      let unanswered = 0;
      const reply = async (port: MessagePort, request: MapsRequest): Promise<void> => {
        unanswered++;
        try {
          port.postMessage({ answer: await answer(request) });
          unanswered--;
        } catch (error) {
          // It stays unanswered: the task fails by it, whatever it makes of this.
          failed = error;
          port.postMessage({ failure: "The source maps cannot be read at the moment." });
        }
      };
      port1.on("message", (request: MapsRequest) => void reply(port1, request));
      try {
        return await run(port2, generation, bytes);
      } catch (error) {
        if (unanswered === 0) throw error;
        throw new TriedAgain("source maps could not be read from Postgres", { cause: failed ?? error });
      } finally {
        port1.close();
      }
    },
    changed,
    async stop() {
      clearInterval(timer);
      await listening.stop();
    },
  };
}
