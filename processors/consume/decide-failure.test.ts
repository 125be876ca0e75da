import { DatabaseError } from "pg";
import { expect, test } from "vitest";
import { ClickHouseUnavailable } from "../../platform/clickhouse/port.ts";
import { WorkerLost } from "../../platform/worker-pool.ts";
import { LeaseLost } from "./cursor-name.ts";
import { decideFailure, TriedAgain, type BatchFailure } from "./decide-failure.ts";

const sqlState = (code: string): Error => Object.assign(new DatabaseError("refused", 0, "error"), { code });
const wrapped = (cause: Error): Error => new Error("Failed query", { cause });

const LEASE = new LeaseLost({ group: "errors", logId: "log", topic: "beacons" }, "somebody else has it");
const CONTENT = wrapped(sqlState("22023"));
const OURS = new RangeError("our own code did not reckon with this");

const CASES: [string, Error, Omit<BatchFailure, "error">, string][] = [
  ["a lost lease", LEASE, { failures: 1, partitions: 4, records: 9 }, "take-over"],
  ["ClickHouse gave no answer", new ClickHouseUnavailable("no answer"), { failures: 9, partitions: 4, records: 9 }, "take-over"],
  ["the connection broke at the commit", wrapped(sqlState("08006")), { failures: 9, partitions: 1, records: 1 }, "take-over"],
  ["PostgreSQL shuts down", sqlState("57P01"), { failures: 9, partitions: 1, records: 1 }, "take-over"],
  ["a first failure of several partitions", CONTENT, { failures: 1, partitions: 4, records: 9 }, "again"],
  ["a third failure of several partitions", CONTENT, { failures: 3, partitions: 4, records: 9 }, "split"],
  ["a third failure of one partition", CONTENT, { failures: 3, partitions: 1, records: 9 }, "split"],
  ["a second failure of one record", CONTENT, { failures: 2, partitions: 1, records: 1 }, "again"],
  ["a third failure of one record", CONTENT, { failures: 3, partitions: 1, records: 1 }, "quarantine"],
  ["an error of our own", OURS, { failures: 3, partitions: 1, records: 1 }, "quarantine"],
  ["a statement that takes too long", sqlState("57014"), { failures: 3, partitions: 1, records: 1 }, "quarantine"],
  ["a row too large for an index", sqlState("54000"), { failures: 3, partitions: 1, records: 1 }, "quarantine"],
  ["a lock that somebody holds, several partitions", wrapped(sqlState("55P03")), { failures: 1, partitions: 4, records: 9 }, "split"],
  ["a lock that somebody holds, one partition", sqlState("55P03"), { failures: 50, partitions: 1, records: 1 }, "wait"],
  ["a source map that cannot be read", new TriedAgain("away"), { failures: 50, partitions: 1, records: 1 }, "wait"],
  ["a thread lost by many records", new WorkerLost("died"), { failures: 3, partitions: 1, records: 9 }, "split"],
  ["a thread lost by none of its entries", new WorkerLost("died"), { failures: 3, partitions: 1, records: 1 }, "wait"],
];

test.each(CASES)("%s", (_what, error, failure, decision) => {
  expect(decideFailure({ error, ...failure })).toBe(decision);
});
