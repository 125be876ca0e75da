import { ClickHouseUnavailable } from "../../platform/clickhouse/port.ts";
import { isPostgresAway, postgresCode } from "../../platform/postgres/database.ts";
import { WorkerLost } from "../../platform/worker-pool.ts";
import { LeaseLost } from "./cursor-name.ts";

/** Something that work needs is away; none of what it works on is to blame. */
export class TriedAgain extends Error {
  constructor(reason: string, options?: ErrorOptions) {
    super(reason, options);
    this.name = "TriedAgain";
  }
}

/**
 * What becomes of a batch that failed.
 *
 * take-over: it is unknown what was written, or another consumer wrote: the lease is taken anew.
 * again: the same batch, after a pause.
 * split: its partitions, then its records, are tried by themselves.
 * wait: nothing can be done about it here; it is tried again, by itself, for as long as it takes.
 * quarantine: the one record that it is about, or an entry of it, is at fault.
 */
export type FailureDecision = "take-over" | "again" | "split" | "wait" | "quarantine";

/** How a batch failed. */
export interface BatchFailure {
  error: unknown;
  /** How often in a row batches of these partitions failed, this one included. */
  failures: number;
  partitions: number;
  records: number;
}

/** So often a batch is tried whole before its parts are: passing faults are more usual than bad entries. */
const TRIES = 3;

/** 55P03 lock not available, 25P03 and 25P04 transaction ended for taking too long: somebody else holds what is needed. */
const HELD_UP = new Set(["55P03", "25P03", "25P04"]);

/** Decides what becomes of a batch that failed. Every class of error ends in one of the decisions. Pure. */
export function decideFailure({ error, failures, partitions, records }: BatchFailure): FailureDecision {
  if (error instanceof LeaseLost || isOutcomeUnknown(error)) return "take-over";
  const heldUp = HELD_UP.has(postgresCode(error) ?? "");
  // Whoever waits for a lock is tried apart at once: each try costs all partitions of the batch the wait.
  if (partitions > 1) return heldUp || failures >= TRIES ? "split" : "again";
  if (heldUp || error instanceof TriedAgain) return "wait";
  if (failures < TRIES) return "again";
  if (records > 1) return "split";
  // A thread that is lost although no entry loses it by itself: the machine is short of something.
  return error instanceof WorkerLost ? "wait" : "quarantine";
}

/** A store is away or did not answer: what was asked of it may have happened. */
export function isOutcomeUnknown(error: unknown): boolean {
  return error instanceof ClickHouseUnavailable || isPostgresAway(error);
}

/** What went wrong at the bottom of it. The messages above hold whole statements with what strangers sent as their parameters. */
export function reasonOf(error: unknown): string {
  let cause = error;
  while (cause instanceof Error && cause.cause instanceof Error) cause = cause.cause;
  return cause instanceof Error ? cause.message : String(cause);
}
