import { setTimeout } from "node:timers/promises";
import { Failure } from "../failures.ts";
import { isPostgresAway, postgresCode } from "./database.ts";

interface Waiting<Item, Result> {
  item: Item;
  resolve(result: Result): void;
  reject(error: unknown): void;
}

interface GatherOptions {
  /** So many items go together at most. */
  most: number;
  /** The calls of one key begin at least so many ms apart, so that each has more items while many come; 0 unless given. */
  everyMs?: number;
}

/**
 * One call of `run` for many items: while one runs for a key, what comes meanwhile waits and goes together next. An item
 * that comes after a silence goes at once. `run` answers in the order of the items and writes all of them or
 * none; when Postgres or our own code refuses several, each is tried alone, so that none fails by its neighbour.
 */
export function makeGather<Key extends object, Item, Result>(
  { most, everyMs = 0 }: GatherOptions,
  run: (key: Key, items: Item[]) => Promise<Result[]>,
): (key: Key, item: Item) => Promise<Result> {
  const queues = new WeakMap<Key, Waiting<Item, Result>[]>();

  async function settle(key: Key, batch: Waiting<Item, Result>[]): Promise<void> {
    try {
      const results = await run(key, batch.map(({ item }) => item));
      for (const [n, { resolve }] of batch.entries()) resolve(results[n]!);
    } catch (error) {
      // Refused means undone. After a lost connection nobody knows, and trying again could write twice.
      const refused = (postgresCode(error) !== null || isOurs(error)) && !isPostgresAway(error);
      if (refused && batch.length > 1) for (const each of batch) await settle(key, [each]);
      else for (const { reject } of batch) reject(error);
    }
  }

  async function drain(key: Key, queue: Waiting<Item, Result>[]): Promise<void> {
    while (queue.length > 0) {
      const began = performance.now();
      await settle(key, queue.splice(0, most));
      const pause = began + everyMs - performance.now();
      // Whoever comes within the pause waits for its end, and the others.
      if (pause > 0) await setTimeout(pause);
    }
    queues.delete(key);
  }

  return (key, item) =>
    new Promise<Result>((resolve, reject) => {
      const waiting = { item, resolve, reject };
      const queue = queues.get(key);
      if (queue) {
        queue.push(waiting);
        return;
      }
      const begun = [waiting];
      queues.set(key, begun);
      void drain(key, begun);
    });
}

/** Thrown while the work went on, so that it was rolled back. */
function isOurs(error: unknown): boolean {
  return error instanceof Failure || error instanceof TypeError || error instanceof RangeError;
}
