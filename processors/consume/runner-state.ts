import type { Clock } from "../../platform/clock.ts";
import type { Log } from "../../platform/log.ts";
import type { BatchOptions, BatchStores } from "./batch-consumer.ts";
import type { ConsumerName } from "./cursor-name.ts";
import { rewind, type HeldPartition } from "./held-partition.ts";
import { makeIntake, type Intake } from "./intake.ts";

/** What the parts of a runner share. */
export interface RunnerState {
  readonly name: ConsumerName;
  readonly stores: BatchStores;
  readonly options: BatchOptions;
  readonly clock: Clock;
  readonly log: Log;
  /** Partitions that the log gives this process now. */
  readonly assigned: Set<number>;
  /** Partitions that the last takeover took. */
  readonly partitions: Map<number, HeldPartition>;
  readonly intake: Intake;
  /** What the answers to the log told it to deliver next, by partition; a request to read again changes nothing here. */
  readonly expected: Map<number, bigint>;
  readonly stopping: AbortController;
  /** Null while this consumer holds nothing: then partitions are taken over first. */
  lease: string | null;
  /** Takeovers after failures since a batch was committed. */
  takeovers: number;
  /** Monotonic ms of the last thing that was done. */
  progressAt: number;
  /** Waits so many ms, or until the runner stops. */
  pause(ms: number): Promise<void>;
}

/** Pauses between tries, in ms. */
export const PAUSES_MS = [50, 100, 200, 500, 1_000, 2_000];

/** The pause after so many failures in a row. */
export function pauseOf(pauses: readonly number[], failures: number): number {
  return pauses[Math.min(failures, pauses.length - 1)]!;
}

/** A runner that holds nothing. */
export function makeRunnerState(
  { clock, log }: { clock: Clock; log: Log },
  name: ConsumerName,
  stores: BatchStores,
  options: BatchOptions,
): RunnerState {
  const stopping = new AbortController();
  return {
    name,
    stores,
    options,
    clock,
    log,
    assigned: new Set(),
    partitions: new Map(),
    intake: makeIntake(),
    expected: new Map(),
    stopping,
    lease: null,
    takeovers: 0,
    progressAt: clock.monotonic(),
    pause: options.pause ?? ((ms) => pauseUnlessStopped(ms, stopping.signal)),
  };
}

function pauseUnlessStopped(ms: number, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    const done = (): void => {
      clearTimeout(timer);
      signal.removeEventListener("abort", done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    signal.addEventListener("abort", done);
  });
}

/** What batches have taken of these partitions and not committed is taken again. */
export function rewindPartitions({ partitions, intake }: RunnerState, numbers: readonly number[]): void {
  for (const partition of numbers) {
    const held = partitions.get(partition);
    if (!held) continue;
    rewind(held);
    intake.putBack(partition, held.next);
  }
}

/** Gives the lease up: partitions are taken over before anything else is done. */
export function giveLeaseUp(state: RunnerState): void {
  state.lease = null;
  state.intake.wake();
}
