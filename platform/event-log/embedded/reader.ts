import { setMaxListeners } from "node:events";
import { setTimeout as delay } from "node:timers/promises";
import type { Log } from "../../log.ts";
import { beyondEnd } from "../beyond-end.ts";
import type { ConsumeOptions, Consumer } from "../port.ts";
import { readRecords, type PartitionState, type Store } from "./store.ts";
import type { Writer } from "./writer.ts";

const MAX_BYTES = 8 * 1024 * 1024;
const PAUSES_MS = [50, 100, 200, 500, 1_000, 2_000];

/** One reader for each partition of a topic, woken by the writer. Rejects when a start lies beyond a partition's end. */
export async function startReader({ store, writer, log }: { store: Store; writer: Writer; log: Log }, options: ConsumeOptions): Promise<Consumer> {
  const { topic, group, startAt, onRecords, beforeRecords, maxBytes = MAX_BYTES } = options;
  const partitions = Array.from({ length: store.partitionCount }, (_, partition) => store.partition(topic, partition));
  const starts = await Promise.all(partitions.map((state) => startOf(state, startAt)));
  const stopping = new AbortController();
  const { signal } = stopping;
  /** Where partitions are to be read again, if anywhere. */
  const again = new Map<number, number>();
  // Each partition's loop listens, and there may be more of them than Node takes for normal.
  setMaxListeners(0, signal);

  async function read(state: PartitionState, start: number): Promise<void> {
    let next = start;
    let failures = 0;
    while (!signal.aborted) {
      next = again.get(state.partition) ?? next;
      again.delete(state.partition);
      if (next >= state.end) {
        await grown(state);
        continue;
      }
      const done = await beforeRecords?.(state.partition);
      let records = readRecords(store.environment, state, next, maxBytes);
      if (records.length === 0) {
        // LMDB read from a snapshot of before the last commit. Waiting for another turn before reading again, they would miss a batch.
        store.environment.resetReadTxn();
        records = readRecords(store.environment, state, next, maxBytes);
      }
      if (records.length === 0) {
        done?.();
        await nextTurn();
        continue;
      }
      try {
        next = Number(await onRecords({ partition: state.partition, records, end: BigInt(state.end), owned: () => true, keepAlive: () => Promise.resolve() }));
        failures = 0;
        writer.notePosition(group, state, next);
      } catch (error) {
        log.warn({ err: error, group, topic, partition: state.partition, offset: String(records[0]?.offset) }, "records could not be processed; they come again");
        await delay(PAUSES_MS[Math.min(failures++, PAUSES_MS.length - 1)], undefined, { signal }).catch(() => undefined);
      } finally {
        done?.();
      }
      // Other work of the process gets its turn between two batches.
      await nextTurn();
    }
  }

  function grown(state: PartitionState): Promise<void> {
    return new Promise((resolve) => {
      const wake = (): void => {
        signal.removeEventListener("abort", wake);
        state.waiting.delete(wake);
        resolve();
      };
      state.waiting.add(wake);
      signal.addEventListener("abort", wake);
    });
  }

  partitions.forEach((state, index) => writer.notePosition(group, state, starts[index]!));
  const finished = Promise.all(partitions.map((state, index) => read(state, starts[index]!)));
  return {
    readAgain(partition, from) {
      again.set(partition, Number(from));
      for (const wake of partitions[partition]!.waiting) wake();
    },
    async stop() {
      stopping.abort();
      await finished;
    },
  };
}

function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

async function startOf(state: PartitionState, startAt: ConsumeOptions["startAt"]): Promise<number> {
  const wanted = Number(await startAt(state.partition));
  if (wanted > state.end) throw beyondEnd(state.name, wanted, state.end);
  return wanted;
}
