import { statfs } from "node:fs/promises";
import type { Clock } from "../../clock.ts";
import type { Log } from "../../log.ts";
import { LogUnavailable } from "../port.ts";
import { markEvery, planCuts, type Mark, type RetentionLimits } from "./retention.ts";
import { isFull, markKey, positionKey, recordKey, type PartitionState, type Store } from "./store.ts";

interface Append {
  state: PartitionState;
  record: Uint8Array;
  resolve(): void;
  reject(error: Error): void;
}

/** What one transaction does to a partition, applied to memory once it is durable. */
interface Growth {
  end: number;
  bytes: number;
  marks: Mark[];
}

export interface Writer {
  /** The record's bytes must not change until it resolves. */
  append(state: PartitionState, record: Uint8Array): Promise<void>;
  /** A group's next offset; written along with a later transaction. */
  notePosition(group: string, state: PartitionState, next: number): void;
  /** Resolves when a write works, rejects with LogUnavailable when it fails or hangs. */
  probe(): Promise<void>;
  /** Refuses new appends and waits for the ones before. */
  close(): Promise<void>;
}

/** Bytes and removals in one transaction: large enough to share an fdatasync, small enough not to delay the next. */
const TRANSACTION_BYTES = 16 * 1024 * 1024;
const TRANSACTION_REMOVALS = 500;
const TRIM_EVERY_MS = 5_000;
const HANGING_MS = 10_000;
const PROBE_KEY = [4];
/** LMDB copies the pages on the way to a record before it changes them. */
const SPARE_BYTES = 1024 * 1024;

/**
 * The only writer of the log. One transaction at a time: all appends that came in during the last one go into the next,
 * so many share one flush. An offset is given out when its transaction is built, but readers see it, and the next
 * transaction counts from it, only once it is durable: a failed transaction leaves no hole.
 */
export function makeWriter({ store, limits, folder, clock, log }: { store: Store; limits: RetentionLimits; folder: string; clock: Clock; log: Log }): Writer {
  const { environment } = store;
  const everyBytes = markEvery(limits.retentionBytes);
  /** Positions to be written, by their key. */
  const dirty = new Map<string, { group: string; state: PartitionState }>();
  const queue: Append[] = [];
  let running: Promise<void> | null = null;
  let writingSince: number | null = null;
  let failure: LogUnavailable | null = null;
  let closed = false;
  const trimming = setInterval(trim, TRIM_EVERY_MS).unref();

  function append(state: PartitionState, record: Uint8Array): Promise<void> {
    if (closed) return Promise.reject(new LogUnavailable("it is closed"));
    return new Promise((resolve, reject) => {
      queue.push({ state, record, resolve, reject });
      run();
    });
  }

  function run(): void {
    running ??= writeAll();
  }

  async function writeAll(): Promise<void> {
    // What one turn of the event loop appends goes together.
    await new Promise((resolve) => setImmediate(resolve));
    for (let trimFailed = false; queue.length > 0 || (!trimFailed && store.all.some(({ first, cut }) => first < cut)); ) {
      const appends = takeAppends();
      const error = await write(appends);
      trimFailed = error !== null;
      for (const { resolve, reject } of appends) {
        if (error) reject(error);
        else resolve();
      }
    }
    // In the same turn as the loop's last look at the queue: an append right after it starts anew.
    running = null;
  }

  function takeAppends(): Append[] {
    let bytes = 0;
    const count = queue.findIndex(({ record }, index) => (bytes += record.byteLength) > TRANSACTION_BYTES && index > 0);
    return queue.splice(0, count === -1 ? queue.length : count);
  }

  /** One transaction: appends, what may be trimmed, positions. Null once durable, else why not; never rejects. */
  async function write(appends: Append[]): Promise<LogUnavailable | null> {
    const growths = new Map<PartitionState, Growth>();
    const trims = new Map<PartitionState, number>();
    const positions = [...dirty].map(([key, { group, state }]) => ({ key, name: positionKey(group, state), next: store.groups.get(group)!.get(state.name)! }));
    const bytes = appends.reduce((sum, { record }) => sum + record.byteLength, 0);
    writingSince = clock.monotonic();
    try {
      // LMDB is not asked again while the disk is known to be full: it prints each refusal to standard error.
      if (failure && (await roomLeft(folder)) < bytes + SPARE_BYTES) return failure;
      dirty.clear();
      // All operations of a batch are one transaction, and only the batch's own promise tells how it went.
      await environment.batch(() => {
        for (const { state, record } of appends) putRecord(state, record, growths);
        removeSome(trims);
        for (const { name, next } of positions) void environment.put(name, Buffer.from(String(next)));
        if (failure) void environment.put(PROBE_KEY, Buffer.alloc(1));
      });
    } catch (error) {
      return await fail(error, bytes);
    } finally {
      writingSince = null;
    }
    for (const [state, upTo] of trims) {
      state.first = upTo;
      state.marks = state.marks.filter(({ offset }) => offset >= upTo);
    }
    for (const [state, growth] of growths) grow(state, growth);
    if (failure) log.info({ folder }, "the event log can be written to again");
    failure = null;
    return null;
  }

  function putRecord(state: PartitionState, record: Uint8Array, growths: Map<PartitionState, Growth>): void {
    const growth = growths.get(state) ?? { end: state.end, bytes: state.bytes, marks: [] };
    growths.set(state, growth);
    const offset = growth.end++;
    void environment.put(recordKey(state, offset), record as Buffer);
    const lastMark = growth.marks.at(-1) ?? state.marks.at(-1);
    if (!lastMark || growth.bytes - lastMark.bytes >= everyBytes) {
      const mark = { offset, at: clock.now(), bytes: growth.bytes };
      growth.marks.push(mark);
      void environment.put(markKey(state, offset), Buffer.from(JSON.stringify({ at: mark.at, bytes: mark.bytes })));
    }
    growth.bytes += record.byteLength;
  }

  /** A bounded number of removals goes along with each transaction, so that trimming never makes appends wait for long. */
  function removeSome(trims: Map<PartitionState, number>): void {
    let left = TRANSACTION_REMOVALS;
    for (const state of store.all) {
      const upTo = Math.min(state.cut, state.first + left);
      if (upTo <= state.first) continue;
      left -= upTo - state.first;
      for (let offset = state.first; offset < upTo; offset++) void environment.remove(recordKey(state, offset));
      for (const { offset } of state.marks) if (offset < upTo) void environment.remove(markKey(state, offset));
      trims.set(state, upTo);
    }
  }

  function grow(state: PartitionState, { end, bytes, marks }: Growth): void {
    state.end = end;
    state.bytes = bytes;
    state.marks.push(...marks);
    for (const wake of state.waiting) wake();
    if (marks.length > 0) trim();
  }

  async function fail(thrown: unknown, bytes: number): Promise<LogUnavailable> {
    // The package's own error is a general one, with a promise of the reason.
    const { commitError } = thrown as { commitError?: Promise<never> };
    const cause: unknown = commitError ? await commitError.catch((reason: unknown) => reason) : thrown;
    // A write that was cut short by a full disk comes as EIO.
    const full = isFull(cause) || (await roomLeft(folder)) < bytes + SPARE_BYTES;
    const reason = cause instanceof Error ? cause.message : String(cause);
    const sentence = full ? `no space is left for ${folder}; free some and it goes on by itself` : `${folder} cannot be written to (${reason})`;
    if (!failure) log.error({ err: cause, folder }, `the event log refuses appends: ${sentence}`);
    failure = new LogUnavailable(sentence, cause);
    return failure;
  }

  function trim(): void {
    const consumed = (state: PartitionState): number => {
      const positions = [...store.groups.values()].flatMap((group) => group.get(state.name) ?? []);
      return positions.length === 0 ? 0 : Math.min(...positions);
    };
    const cuts = planCuts(store.all.map((state) => ({ marks: state.marks, consumed: consumed(state) })), limits, clock.now());
    store.all.forEach((state, index) => (state.cut = Math.max(state.cut, cuts[index]!)));
    if (store.all.some(({ first, cut }) => first < cut)) run();
  }

  return {
    append,
    notePosition(group, state, next) {
      if (!store.groups.has(group)) store.groups.set(group, new Map());
      store.groups.get(group)!.set(state.name, next);
      dirty.set(`${group}/${state.name}`, { group, state });
    },
    async probe() {
      if (closed) throw new LogUnavailable("it is closed");
      if (writingSince !== null && clock.monotonic() - writingSince > HANGING_MS) throw new LogUnavailable(`the disk that holds ${folder} has not confirmed a write for ${HANGING_MS / 1_000} s`);
      if (!failure) return;
      // A trial write, among the others; the failure is forgotten when it works.
      running ??= tryAgain();
      await running;
      if (failure) throw failure;
    },
    async close() {
      closed = true;
      clearInterval(trimming);
      // A run that ends may have been followed by another.
      await running;
      await running;
      if (dirty.size > 0) await write([]);
    },
  };

  async function tryAgain(): Promise<void> {
    await write([]);
    running = null;
    if (queue.length > 0) run();
  }
}

/** Bytes that this process may still write to the folder's disk. */
async function roomLeft(folder: string): Promise<number> {
  const { bavail, bsize } = await statfs(folder).catch(() => ({ bavail: Infinity, bsize: 1 }));
  return bavail * bsize;
}
